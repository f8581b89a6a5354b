"""The resources of a FHIR server in the process: what all samples share, and what a sample adds.

A world is read once and never changed; resources stay as bytes, found by type and patient, and are parsed when a search
looks at them. A chart is a sample's view of a world: it holds what was created, so that a copy costs as much as that.
"""

import mmap
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode

import orjson

from components.core.errors import ConfigError
from components.core.messages import JSON
from components.fhir.search import PARAMETERS, Pairs, Refused, patient_in, patient_of, search, values_at
from components.fhir.validation import DEEPEST, issues_of, outcome
from components.text.structured import is_deeper

Buffer = bytes | mmap.mmap
BASE = "http://localhost/fhir"  # of addresses that nobody asks over the network
CREATED = ("Observation", "MedicationRequest", "ServiceRequest")  # what may be posted, as in the benchmark
_LONGEST_LINE, _LARGEST_BUNDLE = 1 << 20, 1 << 29  # bytes
_ID = re.compile(r"[A-Za-z0-9.-]{1,64}")


class Reply(NamedTuple):
    """What a server answers."""

    status: int
    body: JSON


@dataclass(frozen=True)
class World:
    """``places``: type and patient -> buffer, start and end of each resource, one after the other."""

    buffers: Sequence[Buffer] = ()
    places: Mapping[tuple[str, str], "array[int]"] = field(default_factory=dict)

    @classmethod
    def read(cls, files: Sequence[Path], large: int = 1 << 26) -> "World":
        """Read NDJSON (one resource a line, as of a bulk export) and Bundles (.json). A file of ``large`` bytes stays
        on the disk and must not change while it is used. Raises ConfigError, naming the file and line; for files
        without a patient, and for one who is there twice."""
        buffers, places = list[Buffer](), dict[tuple[str, str], "array[int]"]()
        for number, file in enumerate(files):
            try:
                buffers.append(_bundle(file) if file.suffix == ".json" else _content(file, large))
            except OSError as error:
                raise ConfigError(f"{file}: cannot be read: {error.strerror}") from None
            for place, start, end, resource in _resources(buffers[-1], file):
                key = str(resource["resourceType"]), patient_of(resource)
                if key[0] == "Patient" and key in places:
                    raise ConfigError(f"{place}: the files have Patient/{key[1]} twice")
                places.setdefault(key, array("Q")).extend((number, start, end))
        if not any(resource == "Patient" for resource, _ in places):
            raise ConfigError(f"{', '.join(map(str, files[:3]))}: no Patient among the FHIR resources")
        return cls(buffers, places)

    def find(self, resource: str, patients: Iterable[str] | None = None, text: str = "") -> Iterator[JSON]:
        """The resources of a type, of these patients or of all, in whose JSON a text stands."""
        if patients is None:
            patients = [patient for kind, patient in self.places if kind == resource]
        sought = text.encode()
        for key in dict.fromkeys((resource, patient) for patient in patients):
            places = self.places.get(key, ())
            for n in range(0, len(places), 3):
                number, start, end = places[n : n + 3]
                if sought in (line := self.buffers[number][start:end]):
                    yield orjson.loads(line)

    def patient(self, identifier: str) -> JSON | None:
        """The patient with an identifier (of which the id is one); None where there is none."""
        named = next(self.find("Patient", [identifier]), None)
        others = (one for one in self.find("Patient") if identifier in values_at(one, "identifier.value"))
        return named if named is not None else next(others, None)


def resource_files(path: Path) -> list[Path]:
    """The files of a world. Raises ConfigError where there are none."""
    endings = (".ndjson", ".jsonl", ".json")
    found = sorted(one for one in path.rglob("*") if one.suffix in endings) if path.is_dir() else [path]
    if not (files := [one for one in found if one.is_file()]):
        raise ConfigError(f"no FHIR resources at {path}; give an .ndjson file, a Bundle, or a folder of such files")
    return files


@lru_cache(maxsize=4)
def _opened(files: tuple[tuple[Path, int], ...]) -> World:
    return World.read([file for file, _ in files])


def open_world(path: Path) -> World:
    """A world, read once per process and change of its files. Raises ConfigError."""
    return _opened(tuple((file, file.stat().st_mtime_ns) for file in resource_files(path.resolve())))


@dataclass
class Chart:
    """The state behind an offer of FHIR tools: a world and what this sample created in it, in order."""

    world: World
    created: list[JSON] = field(default_factory=list)

    def fork(self) -> Self:
        """A copy to which more can be added."""
        return replace(self, created=list(self.created))

    def close(self) -> None:
        """Nothing to let go of."""

    def search(self, resource: str, pairs: Pairs, base: str = BASE) -> Reply:
        """A Bundle of what fits, or an OperationOutcome."""
        try:
            texts = (text for name, text in pairs if name in ("patient", "subject"))
            patients = next(([patient_in(one) for one in text.split(",")] for text in texts), None)
            resources = self._find(_served(resource), patients)
            found, total, end = search(resource, pairs, resources)
        except Refused as error:
            return refusal(error)
        url, asked = f"{base}/{resource}", {"self": pairs}
        if found and total > end:
            asked["next"] = [*(pair for pair in pairs if pair[0] != "_offset"), ("_offset", str(end))]
        links = [{"relation": one, "url": f"{url}?{urlencode(asked[one], safe=':/|,')}"} for one in asked]
        entries = [{"fullUrl": f"{url}/{one['id']}", "resource": one, "search": {"mode": "match"}} for one in found]
        bundle = {"resourceType": "Bundle", "type": "searchset", "total": total, "link": links, "entry": entries}
        return Reply(200, bundle)

    def read(self, resource: str, name: str) -> Reply:
        """One resource by its id, or an OperationOutcome."""
        try:
            found = (one for one in self._find(_served(resource), None, name) if one["id"] == name)
            if (one := next(found, None)) is None:
                raise Refused(f"there is no {resource} {name!r:.60}", 404, "not-found")
        except Refused as error:
            return refusal(error)
        return Reply(200, one)

    def create(self, resource: str, body: Any) -> Reply:
        """The resource as it was created, or an OperationOutcome; nothing changes then."""
        try:
            if resource not in CREATED:
                text = f"{_served(resource)} cannot be created here; {', '.join(CREATED)} can"
                raise Refused(text, 405, "not-supported")
            if not isinstance(body, Mapping):
                raise Refused("the body must be a JSON object", code="structure")
            if issues := issues_of(resource, body):
                return Reply(422, outcome(*issues))
            if ("Patient", name := patient_of(body)) not in self.world.places:
                raise Refused(f"there is no patient {name!r}", 422, "not-found", f"{resource}.subject")
        except Refused as error:
            return refusal(error)
        created = {**body, "id": f"created-{len(self.created) + 1}", "meta": {"versionId": "1"}}
        self.created.append(created)
        return Reply(201, created)

    def _find(self, resource: str, patients: Sequence[str] | None, text: str = "") -> Iterator[JSON]:
        yield from self.world.find(resource, patients, text)
        for one in self.created:
            if one["resourceType"] == resource and (patients is None or patient_of(one) in patients):
                yield one


def refusal(error: Refused) -> Reply:
    """A refusal as a server words it."""
    return Reply(error.status, outcome((error.code, str(error), error.expression)))


def _served(resource: str) -> str:
    if resource not in PARAMETERS:
        have = ", ".join(PARAMETERS)
        raise Refused(f"the resource {resource!r:.60} is not served; there are {have}", 404, "not-supported")
    return resource


def _content(file: Path, large: int) -> Buffer:
    if file.stat().st_size < large:
        return file.read_bytes()
    with file.open("rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)


def _bundle(file: Path) -> Buffer:
    """The resources of a Bundle, or the only one of a file, as lines. Raises ConfigError."""
    if file.stat().st_size > _LARGEST_BUNDLE:
        raise ConfigError(f"{file}: a Bundle has at most {_LARGEST_BUNDLE:,} bytes; give NDJSON")
    try:
        found = orjson.loads(file.read_bytes())
        if not isinstance(found, Mapping):
            raise ConfigError(f"{file}: must be a Bundle or a resource, found {found!r:.80}")
        entries = found.get("entry", []) if found.get("resourceType") == "Bundle" else [{"resource": found}]
        if not isinstance(entries, list) or not all(isinstance(one, Mapping) for one in entries):
            raise ConfigError(f"{file}: entry must be a list of objects, found {entries!r:.80}")
        return b"\n".join(orjson.dumps(one["resource"]) for one in entries if isinstance(one.get("resource"), Mapping))
    except (ValueError, TypeError) as error:  # TypeError: nested too deeply to be written
        raise ConfigError(f"{file}: not JSON, perhaps cut off: {error}") from None


def _resources(buffer: Buffer, file: Path) -> Iterator[tuple[str, int, int, JSON]]:
    """Place in messages, start, end and content of every line with a resource that is served. Raises ConfigError."""
    start, number = 0, 1
    while start < len(buffer):
        end = buffer.find(b"\n", start)
        end = len(buffer) if end < 0 else end
        line, place = buffer[start:end], f"{file}:{number}"
        if len(line) > _LONGEST_LINE:
            raise ConfigError(f"{place}: a resource of {len(line):,} bytes; at most {_LONGEST_LINE:,} are read")
        if line.strip() and (resource := _resource(line, place)).get("resourceType") in PARAMETERS:
            if not isinstance(own := resource.get("id"), str) or not _ID.fullmatch(own):
                raise ConfigError(f"{place}: id must be 1 to 64 letters, digits, - and ., found {own!r:.80}")
            yield place, start, end, resource
        start, number = end + 1, number + 1


def _resource(line: bytes, place: str) -> dict[str, Any]:
    try:
        resource = orjson.loads(line)
    except ValueError as error:
        raise ConfigError(f"{place}: not JSON, perhaps cut off: {error}") from None
    if not isinstance(resource, dict):
        raise ConfigError(f"{place}: must be a resource, found {resource!r:.80}")
    if line.count(b"{") + line.count(b"[") > DEEPEST and is_deeper(resource, DEEPEST):
        raise ConfigError(f"{place}: a resource of more than {DEEPEST} levels")
    return resource
