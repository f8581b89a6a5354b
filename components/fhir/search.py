"""Search of FHIR R4 resources: parameters by resource (parameters.yaml), order and pages.

Source: HL7 FHIR R4 (v4.0.1), 3.1.1 Search. A page of 20 resources is HAPI FHIR's default, the benchmark's server.
Departures: no chains, includes or modifiers; what is not known is refused, as HAPI does, and not ignored.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from components.core.messages import JSON
from components.fhir.instants import date_test, ranges_in
from components.text.structured import read_yaml
from components.text.words import plain

PARAMETERS: Mapping[str, Mapping[str, Sequence[str]]] = read_yaml(Path(__file__).with_name("parameters.yaml"))
PAGE, MOST = 20, 1000  # resources of a page: without _count, and at most
_LONGEST, MANY = 500, 30  # characters of a value, parameters of a search
_RESULT = ("_count", "_offset", "_sort", "_format", "_pretty", "_total")  # how a result is shown
_PATIENT = re.compile(r"(?:(?:.*/)?Patient/|urn:uuid:)?([A-Za-z0-9.-]{1,64})(?:/_history/[^/]+)?", re.DOTALL)
Pairs = Sequence[tuple[str, str]]
Fits = Callable[[Sequence[Any]], bool]  # whether the values of a parameter's elements are as asked


class Refused(Exception):
    """The request is not one that the server serves: an HTTP ``status``, a ``code`` of OperationOutcome, and why."""

    def __init__(self, diagnostics: str, status: int = 400, code: str = "invalid", expression: str = "") -> None:
        super().__init__(diagnostics)
        self.status, self.code, self.expression = status, code, expression


def search(resource: str, pairs: Pairs, resources: Iterable[JSON]) -> tuple[list[JSON], int, int]:
    """The page of resources that fit, how many do in all, and how many are before and on the page. Raises Refused."""
    if len(pairs) > MANY or any(len(value) > _LONGEST for _, value in pairs):
        raise Refused(f"a search takes at most {MANY} parameters of {_LONGEST} characters", code="too-long")
    tests, order = list[Callable[[JSON], bool]](), list[tuple[bool, Sequence[str]]]()
    numbers = {"_count": PAGE, "_offset": 0}
    for name, value in pairs:
        if name in ("_count", "_offset"):
            if not (value.isascii() and value.isdigit() and len(value) < 10):
                raise Refused(f"{name} must be a whole number, found {value!r:.60}")
            numbers[name] = int(value)
        elif name == "_sort":
            order += [(one.startswith("-"), _known(resource, one.removeprefix("-"))) for one in value.split(",")]
        elif name not in _RESULT:
            tests.append(_test(_known(resource, name), value, name))
    found = [one for one in resources if all(test(one) for test in tests)]
    for backwards, parameter in reversed(order):
        keyed = [(_sort_key(one, parameter), one) for one in found]
        ordered = sorted((one for one in keyed if one[0] is not None), key=itemgetter(0), reverse=backwards)
        found = [one for _, one in (*ordered, *(one for one in keyed if one[0] is None))]
    end = (start := numbers["_offset"]) + min(numbers["_count"], MOST)
    return found[start:end], len(found), end


def values_at(value: Any, path: str) -> Iterator[Any]:
    """All values at a dotted path of a resource, of repeating elements each."""
    name, _, rest = path.partition(".")
    for one in value if isinstance(value, list) else [value]:
        if not path:
            if one is not None:
                yield one
        elif isinstance(one, Mapping):
            yield from values_at(one.get(name), rest)


def patient_of(resource: JSON) -> str:
    """The id of the patient that a resource is of; its own of a Patient; empty without one."""
    if resource.get("resourceType") == "Patient":
        return str(resource.get("id", ""))
    subject = resource.get("subject")
    return patient_in(subject.get("reference", "")) if isinstance(subject, dict) else ""


def patient_in(reference: Any) -> str:
    """The id of ``Patient/ID``, of an address that ends so, of ``urn:uuid:ID``, or of a bare id; empty of others."""
    found = _PATIENT.fullmatch(str(reference))
    return found[1] if found else ""


def _known(resource: str, name: str) -> Sequence[str]:
    """Kind and elements of a parameter. Raises Refused."""
    if name not in PARAMETERS[resource]:
        have = ", ".join((*PARAMETERS[resource], *_RESULT))
        raise Refused(f"{resource} has no search parameter {name!r:.60}; it has {have}", code="not-supported")
    return PARAMETERS[resource][name]


def _sort_key(resource: JSON, parameter: Sequence[str]) -> Any:
    """What a resource is ordered by: an instant of a date, else a text; None without a value."""
    kind, *paths = parameter
    value = next((one for path in paths for one in values_at(resource, path)), None)
    if kind == "date":
        return next((one.low for one in ranges_in(value)), None)
    coded = next((one for path in ("coding.code", "value", "reference") for one in values_at(value, path)), value)
    return None if coded is None else str(coded)


def _test(parameter: Sequence[str], value: str, name: str) -> Callable[[JSON], bool]:
    """The test of a parameter: it holds for one of its values, which commas separate. Raises Refused."""
    kind, *paths = parameter
    try:
        tests = [_FITS[kind](option) for option in value.split(",") if option.strip("| ")]
    except ValueError as error:
        raise Refused(f"{name}: {error}") from None
    if not tests:
        raise Refused(f"{name} has no value")

    def test(resource: JSON) -> bool:
        found = [one for path in paths for one in values_at(resource, path)]
        return any(fits(found) for fits in tests)

    return test


def _reference(option: str) -> Fits:
    if not (asked := patient_in(option)):
        raise ValueError(f"{option!r:.60} is no reference to a patient, such as Patient/ID")
    return lambda found: any(patient_in(one) == asked for value in found for one in values_at(value, "reference"))


def _token(option: str) -> Fits:
    """``code``, ``system|code``, ``|code`` or ``system|`` among codings, identifiers, contacts and plain codes."""
    system, has_system, code = option.rpartition("|")

    def fits(found: Sequence[Any]) -> bool:
        coded = [one for value in found for one in values_at(value, "coding")]
        plain = [one if isinstance(one, Mapping) else {"code": one} for one in found]
        pairs = ((one.get("code", one.get("value")), one.get("system", "")) for one in [*coded, *plain])
        return any((own == code or not code) and (system == of or not has_system) for own, of in pairs)

    return fits


def _string(option: str) -> Fits:
    """Begins a value, in any case and without accents. Raises ValueError."""
    if not (asked := plain(option)):
        raise ValueError(f"{option!r:.60} has no letters")
    return lambda found: any(plain(str(one)).startswith(asked) for one in found)


def _name(option: str) -> Fits:
    """Every word begins a part of the name. Raises ValueError."""
    words = [_string(word) for word in option.split()]
    return lambda found: all(fits(found) for fits in words)


_FITS: Mapping[str, Callable[[str], Fits]] = {
    "date": date_test, "reference": _reference, "token": _token, "string": _string, "name": _name,
}  # fmt: skip
