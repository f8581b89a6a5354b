"""Search of FHIR R4 resources: parameters by resource (parameters.yaml), order and pages.

Source: HL7 FHIR R4 (v4.0.1), 3.1.1 Search. A page of 20 resources is HAPI FHIR's default, the benchmark's server.
Departures: no chains, no includes, of modifiers ``exact`` and ``contains`` alone; what is not known is refused, as HAPI
does, and not ignored.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

from components.core.messages import JSON
from components.fhir.instants import date_test, ranges_in
from components.text.structured import read_yaml

PARAMETERS: Mapping[str, Mapping[str, Sequence[str]]] = read_yaml(Path(__file__).with_name("parameters.yaml"))
PAGE, MOST = 20, 1000  # resources of a page: without _count, and at most
_LONGEST, _MANY = 500, 30  # characters of a value, parameters of a search
_RESULT = ("_count", "_offset", "_sort", "_format", "_pretty", "_total")  # how a result is shown
Pairs = Sequence[tuple[str, str]]
Values = Sequence[Any]


class Refused(Exception):
    """The request is not one that the server serves: an HTTP ``status``, a ``code`` of OperationOutcome, and why."""

    def __init__(self, text: str, status: int = 400, code: str = "invalid", expression: str = "") -> None:
        super().__init__(text)
        self.status, self.code, self.expression = status, code, expression


class Query(NamedTuple):
    """What a search asks for: tests that a resource must pass, its order, and the page."""

    tests: Sequence[Callable[[JSON], bool]]
    order: Sequence[tuple[bool, Sequence[str]]]
    size: int
    offset: int

    def run(self, resources: Iterable[JSON]) -> tuple[list[JSON], int]:
        """The page, and how many resources fit in all."""
        found = [one for one in resources if all(test(one) for test in self.tests)]
        for backwards, paths in reversed(self.order):
            keyed = [(_sort_key(one, paths), one) for one in found]
            keyed.sort(key=lambda pair: pair[0], reverse=backwards)
            keyed.sort(key=lambda pair: not pair[0])  # those without a value are last
            found = [one for _, one in keyed]
        return found[self.offset : self.offset + self.size], len(found)


def read_query(resource: str, pairs: Pairs) -> Query:
    """Read the parameters of a search. Raises Refused."""
    known = PARAMETERS[resource]
    if len(pairs) > _MANY or any(len(value) > _LONGEST for _, value in pairs):
        raise Refused(f"a search takes at most {_MANY} parameters of {_LONGEST} characters", code="too-long")
    tests, order, numbers = list[Callable[[JSON], bool]](), list[tuple[bool, Sequence[str]]](), {"_count": PAGE}
    for full, value in pairs:
        name, _, modifier = full.partition(":")
        if name in ("_count", "_offset"):
            if not (value.isascii() and value.isdigit() and len(value) < 10):
                raise Refused(f"{name} must be a whole number, found {value!r:.60}")
            numbers[name] = int(value)
        elif name in known:
            tests.append(_test(known[name], modifier, value, full))
        elif name == "_sort":
            order += [(one.startswith("-"), _known(resource, one.removeprefix("-"))[1:]) for one in value.split(",")]
        elif name not in _RESULT:
            _known(resource, name)
    return Query(tests, order, min(numbers["_count"], MOST), numbers.get("_offset", 0))


def values_at(value: Any, path: str) -> Iterator[Any]:
    """All values at a dotted path of a resource, of repeating elements each."""
    if isinstance(value, list):
        for one in value:
            yield from values_at(one, path)
    elif not path:
        if value is not None:
            yield value
    elif isinstance(value, Mapping):
        first, _, rest = path.partition(".")
        yield from values_at(value.get(first), rest)


def patient_of(resource: JSON) -> str:
    """The id of the patient that a resource is of; its own of a Patient; empty without one."""
    if resource.get("resourceType") == "Patient":
        return str(resource.get("id", ""))
    reference = next(map(str, values_at(resource, "subject.reference")), "")
    return id_in(reference) if reference.split("/")[-2:-1] in ([], ["Patient"]) else ""


def id_in(reference: str) -> str:
    """The id of ``Patient/ID``, of an address that ends so, of ``urn:uuid:ID``, or of a bare id."""
    return reference.rpartition("/")[2].rpartition(":")[2]


def _known(resource: str, name: str) -> Sequence[str]:
    """Kind and elements of a parameter. Raises Refused."""
    if name not in PARAMETERS[resource]:
        have = ", ".join((*PARAMETERS[resource], *_RESULT))
        raise Refused(f"{resource} has no search parameter {name!r:.60}; it has {have}", code="not-supported")
    return PARAMETERS[resource][name]


def _sort_key(resource: JSON, paths: Sequence[str]) -> str:
    """What a resource is ordered by; empty without a value. Dates become instants of one zone."""
    value = next((one for path in paths for one in values_at(resource, path)), None)
    if ranges := ranges_in(value):
        return ranges[0].low.astimezone(UTC).isoformat()
    coded = next((one for path in ("coding.code", "value", "reference") for one in values_at(value, path)), value)
    return "" if coded is None else str(coded)


def _test(known: Sequence[str], modifier: str, value: str, name: str) -> Callable[[JSON], bool]:
    """The test of a parameter: it holds for one of its values, which commas separate. Raises Refused."""
    kind, *paths = known
    if modifier and (kind != "string" or modifier not in ("exact", "contains")):
        raise Refused(f"{name!r:.60}: the modifier is not supported", code="not-supported")
    if not (options := [one for one in value.split(",") if one]):
        raise Refused(f"{name!r:.60} has no value")
    try:
        tests = [_FITS[kind](option, modifier) for option in options]
    except ValueError as error:
        raise Refused(f"{name}: {error}") from None

    def test(resource: JSON) -> bool:
        found = [one for path in paths for one in values_at(resource, path)]
        return any(fits(found) for fits in tests)

    return test


def _date(option: str, _: str) -> Callable[[Values], bool]:
    fits = date_test(option)
    return lambda found: fits([one for value in found for one in ranges_in(value)])


def _reference(option: str, _: str) -> Callable[[Values], bool]:
    wanted = id_in(option)
    return lambda found: any(id_in(str(one)) == wanted for value in found for one in values_at(value, "reference"))


def _token(option: str, _: str) -> Callable[[Values], bool]:
    """``code``, ``system|code`` or ``|code`` among codings, identifiers, contacts and plain codes."""
    system, has_system, code = option.rpartition("|")

    def fits(found: Values) -> bool:
        coded = [one for value in found for one in values_at(value, "coding")]
        plain = [one if isinstance(one, Mapping) else {"code": one} for one in found]
        pairs = ((str(one.get("code", one.get("value"))), str(one.get("system", ""))) for one in [*coded, *plain])
        return any(code == own and (not has_system or system == of) for own, of in pairs)

    return fits


def _string(option: str, modifier: str) -> Callable[[Values], bool]:
    """Begins a value, in any case and without accents; with a modifier stands in it, or is it."""
    if modifier == "exact":
        return lambda found: option in found
    asked = _plain(option)
    if modifier == "contains":
        return lambda found: any(asked in _plain(str(one)) for one in found)
    return lambda found: any(_plain(str(one)).startswith(asked) for one in found)


def _name(option: str, modifier: str) -> Callable[[Values], bool]:
    """Every word begins a part of the name."""
    words = [_string(word, modifier) for word in option.split()]
    return lambda found: all(fits(found) for fits in words)


def _plain(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in parts if not unicodedata.combining(one))


_FITS: Mapping[str, Callable[[str, str], Callable[[Values], bool]]] = {
    "date": _date, "reference": _reference, "token": _token, "string": _string, "name": _name,
}  # fmt: skip
