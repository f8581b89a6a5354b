"""Test whether a builder's code is the specified tool. It runs in the sandbox only, and its own statements do not
count: this process compares its outputs with the specification."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from components.building.specification import Specification, is_finite, is_plain, kind, schema_error, short_json
from components.core.errors import ModelError
from components.sandbox import Library, Sandbox, SandboxError, Session

LIBRARY = Library("components.sandbox.probe", {})  # the namespace holds Python's own names only
MOST = 40  # inputs besides the examples
CLOSE = 0.005  # of a number: as far off as an expected output may be written
_ROUNDING = 1e-12  # what is left of 0 after additions
_CALLS = """

def _called(function, inputs):  # no specification asks for a name like this one
    import json
    results = []
    for given in json.loads(inputs):
        try:
            results.append({{"output": function(**given)}})
        except Exception as error:
            results.append({{"error": f"{{type(error).__name__}}: {{error}}"[:300]}})
    return json.dumps(results)

answer = _called({name}, {given!r})
"""
Inputs = Mapping[str, Any]
Result = Mapping[str, Any]  # an ``output`` or an ``error``


@dataclass(frozen=True)
class Verdict:
    """``reason``: the first error, for the builder; empty when the code passed. ``checked``: the number of inputs.
    ``code`` is the one that was written last, after so many ``attempts``."""

    reason: str = ""
    checked: int = 0
    code: str = ""
    attempts: int = 0

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.reason

    def facts(self, name: str, specified: bool = True) -> Mapping[str, Any]:
        """The same for records; ``specified``: whether the specification was good enough to build."""
        return {"mode": "code", "name": name, "specified": specified, "passed": self.passed, **asdict(self)}


class Broken(Exception):
    """The code gave no outputs at all."""


async def outputs(code: str, name: str, inputs: Sequence[Inputs], session: Session) -> Sequence[Result]:
    """Results of a function of the code, all in one fresh process. Raises Broken, ModelError (sandbox)."""
    try:
        ran = await session.run(code + _CALLS.format(given=json.dumps(list(inputs)), name=name))
    except SandboxError as error:
        raise ModelError(f"no process for the code: {error}", "sandbox") from None
    if ran.error is not None:
        line = f" in the line: {ran.error.line.strip()}" if ran.error.line.strip() else ""
        raise Broken(f"the code failed with {ran.error.type}: {ran.error.message[:300]}{line}")
    if ran.status != "ok":
        raise Broken("the code ended before its calls were made")
    try:
        results = [*json.loads(ran.answer)]
    except (TypeError, ValueError, RecursionError):
        results = []
    found = [one for one in results if isinstance(one, dict) and len(one) == 1]
    found = [one for one in found if "output" in one or isinstance(one.get("error"), str)]
    if not len(found) == len(results) == len(inputs):
        raise Broken("the code changed what its calls gave: it must define the function and do nothing else")
    return found


async def run_call(code: str, name: str, given: Inputs, sandbox: Sandbox) -> Result:
    """One call: its ``output`` or its ``error``. Raises ModelError (sandbox)."""
    with closing(sandbox.open(LIBRARY)) as session:
        try:
            return (await outputs(code, name, [given], session))[0]
        except Broken as broken:
            return {"error": str(broken)}


async def verdict_on(code: str, spec: Specification, sandbox: Sandbox, held_back: int = 0) -> Verdict:
    """Check code against the examples, of which the builder has not seen the last ``held_back``, and the schema: no
    exception on valid input, outputs of the examples' kind, the same with a default as without the parameter, the same
    in another process and order. Raises ModelError (sandbox) where the machine gives no process."""
    inputs = [*(one.input for one in spec.examples), *trials(spec)]
    with closing(sandbox.open(LIBRARY)) as session:
        try:
            first = await outputs(code, spec.name, inputs, session)
            wrong = next(_errors(spec, list(zip(inputs, first, strict=True)), held_back), "")
            if not wrong:
                again = await outputs(code, spec.name, inputs[::-1], session)
                for given, was, now in zip(inputs, first, again[::-1], strict=True):
                    if was != now and not wrong:
                        found = f"for {short_json(given)} it gave {short_json(was)}, then {short_json(now)}"
                        wrong = f"it is not deterministic: {found}"
        except Broken as broken:
            wrong = str(broken)
        except RecursionError:
            wrong = "its outputs are nested too deeply to be read"
    return Verdict(wrong, len(inputs))


def _errors(spec: Specification, runs: Sequence[tuple[Inputs, Result]], held_back: int) -> Iterator[str]:
    """The errors of the results; only the first one is certain."""
    for given, result in runs:
        if "error" in result:
            yield f"for the valid input {short_json(given)} it raised {result['error']}"
        elif not fits(found := result["output"], spec):
            yield f"for the valid input {short_json(given)} it gave {short_json(found)}, which is no {spec.output}"
    for number, (example, (_, result)) in enumerate(zip(spec.examples, runs, strict=False)):
        if not is_close(found := result["output"], example.output):
            expected = f"expected was {short_json(example.output)}"
            if number >= len(spec.examples) - held_back:
                expected = "which is wrong; this example was not shown"
            yield f"for the input {short_json(example.input)} it gave {short_json(found)}, {expected}"
    for name, schema in spec.properties.items():
        for given, was in runs if "default" in schema else ():
            full = {**given, name: schema["default"]}
            other = next((one for inputs, one in runs if name not in given and inputs == full), was)
            if other != was:
                text = f"for {short_json(given)} it gave {short_json(was)}"
                yield f"{text}, with the default of {name} {short_json(other)}"


def fits(found: Any, spec: Specification) -> bool:
    """Whether an output is of the examples' kind and can be written down."""
    return kind(found) == spec.output and is_plain(found)


def is_close(found: Any, expected: Any) -> bool:
    """Whether an output is the expected one: numbers to 0.5 %, or to the digits that are written."""
    if kind(found) != kind(expected):
        return False
    if kind(expected) == "number":
        written = 0 if "e" in repr(expected) else len(repr(expected).partition(".")[2])
        near = is_finite(found) and math.isclose(found, expected, rel_tol=CLOSE, abs_tol=_ROUNDING)
        return near or (is_finite(found) and written > 0 and round(found, written) == expected)
    if isinstance(expected, str):
        return bool(found.strip() == expected.strip())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(is_close, found, expected))
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(is_close(found[key], expected[key]) for key in expected)
    return bool(found == expected)


def trials(spec: Specification) -> Sequence[Mapping[str, Any]]:
    """At most 40 valid inputs that no example shows: those of the examples with one parameter changed or left out.
    Changed values are the ends of ranges, their middle, each allowed value and the default."""
    examples = [one.input for one in spec.examples]
    found: list[Mapping[str, Any]] = []
    for base in examples:
        for name, schema in spec.properties.items():
            changed: Iterator[Inputs] = ({**base, name: value} for value in _edges(schema))
            optional = name in base and name not in spec.required
            shorter = [{key: value for key, value in base.items() if key != name}] if optional else []
            for one in chain(changed, shorter):
                if one not in (*examples, *found) and not schema_error(spec.parameters, one):
                    found.append(one)
                if len(found) == MOST:
                    return found
    return found


def _edges(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The default, and the allowed values, or the ends of the range (just inside where excluded) and its middle."""
    if "default" in schema:
        yield schema["default"]
    if "enum" in schema:
        yield from schema["enum"]
    elif schema["type"] == "boolean":
        yield from (False, True)
    elif schema["type"] in ("number", "integer"):
        low, high = (schema.get(f"{end}imum", schema.get(f"exclusive{end.title()}imum")) for end in ("min", "max"))
        whole, both = schema["type"] == "integer", low is not None and high is not None
        inside = (high - low) / 100 if both and not whole else 1
        if low is not None:
            yield low + inside if low == schema.get("exclusiveMinimum") else low
        if high is not None:
            yield high - inside if high == schema.get("exclusiveMaximum") else high
        if both:
            yield (low + high) // 2 if whole else (low + high) / 2
