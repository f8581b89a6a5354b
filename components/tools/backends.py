"""What tools with one text argument share: the tool, the backend that answers for it, and data in files."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, runtime_checkable

from components.acting.arguments import only_text
from components.core.errors import ConfigError, ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import ToolTraits
from components.core.types import Observation
from components.files.rows import Row, json_lines
from components.text.structured import read_yaml

Shipped = Literal["corpus", "drugs", "vocabulary", "web"]
DATA = Path(__file__).parent / "data"
Index = TypeVar("Index")
_SPECS = read_yaml(DATA / "specs.yaml")


@lru_cache(maxsize=32)
def spec_of(name: str) -> ToolSpec:
    """The spec of a clinical tool, as ``data/specs.yaml`` describes it to models."""
    entry = _SPECS[name]
    texts = {parameter: {"type": "string", "description": about} for parameter, about in entry["parameters"].items()}
    parameters = {"type": "object", "properties": texts, "required": list(texts)}
    facts = {key: entry[key] for key in ("dimension", "needs") if key in entry}
    return ToolSpec(name, entry["description"], parameters, facts=facts)


@runtime_checkable
class Backend(Protocol):
    """Where answers are found: a file or a service."""

    @property
    def effect(self) -> Effect: ...

    @property
    def identity(self) -> str:
        """What changes when the answers of a service can."""

    @property
    def missing(self) -> str:
        """The missing files and how to get them; empty when all exist."""


@dataclass(frozen=True)
class TextTool(ABC):
    """A tool with one text argument: a subclass declares ``spec`` and answers. Raises ToolError (unavailable)."""

    spec: ClassVar[ToolSpec]

    @property
    def source(self) -> Backend | None:
        """Where the answers come from; None where they follow from the text alone."""
        return None

    @property
    def effect(self) -> Effect:
        """The effect of the source."""
        return self.source.effect if self.source is not None else "pure"

    @property
    def identity(self) -> str:
        """What changes when the answers of the source can."""
        return self.source.identity if self.source is not None else ""

    @property
    def missing(self) -> str:
        """What must be installed or provided first."""
        return self.source.missing if self.source is not None else ""

    @property
    def traits(self) -> ToolTraits:
        """The identity of its answers, and what is missing for them."""
        return ToolTraits(identity=self.identity, missing=self.missing)

    async def __call__(self, context: Context, /, **arguments: Any) -> Observation:
        text = only_text(self.spec, next(iter(arguments.values()), None))
        if missing := self.missing:
            raise ToolError(f"{self.spec.name} is unavailable: {missing}.", "unavailable")
        return await self.answer(text)

    @abstractmethod
    async def answer(self, text: str) -> Observation:
        """Answer. Raises ToolError."""


@dataclass(frozen=True)
class LookupTool(TextTool):
    """A text tool whose answers come from a backend where there is one."""

    backend: Backend | None

    @property
    def source(self) -> Backend | None:
        """The backend."""
        return self.backend


@dataclass(frozen=True)
class Stamp:
    """A file as it is now; another one when the file changes. ``path`` is absolute."""

    path: str
    changed: int
    size: int


@dataclass(frozen=True)
class FileBackend(ABC, Generic[Index]):
    """A backend over files: ``shipped`` names a sample in this package, ``path`` a custom file or folder.

    A subclass declares how to get the files (``how``) and their ``suffixes``, and reads rows of .jsonl files.
    """

    shipped: Shipped | None = None
    path: str | None = None
    how: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)
    effect: ClassVar[Effect] = "pure"
    identity: ClassVar[str] = "files"

    def __post_init__(self) -> None:
        for row in first_rows(self.place):
            self.read(row)

    @abstractmethod
    def read(self, row: Row) -> object:
        """Read a row. Raises ConfigError for a row of another form."""

    @abstractmethod
    def load(self, files: Sequence[Path]) -> Index:
        """Read the files. Raises ConfigError."""

    @cached_property
    def place(self) -> Path:
        """The file or folder."""
        return locate_data(self.shipped, self.path, type(self).__name__)

    @property
    def missing(self) -> str:
        """What is missing: the path, or any file in it."""
        if absent := missing_data(self.place, self.how):
            return absent
        return "" if self.files else f"no {' or '.join(self.suffixes)} file in {self.place}: {self.how}"

    @property
    def files(self) -> Sequence[Path]:
        """The files in the order of their names."""
        place = self.place
        return [place] if place.is_file() else sorted(path for path in place.iterdir() if path.suffix in self.suffixes)

    @property
    def loaded(self) -> Index:
        """What the files hold, read once while they stay as they are. Raises ConfigError."""
        files = tuple(map(stamp, self.files))
        with _LOOKUP:
            content: _Content[Index] = _content(self, files)
        return content.read()


class _Content(Generic[Index]):
    """What files hold for a backend: the first thread that needs it reads them, others that need the same wait."""

    def __init__(self, backend: FileBackend[Index], files: Sequence[Stamp]) -> None:
        self._backend, self._files, self._reading = backend, files, Lock()
        self._index: Index | None = None

    def read(self) -> Index:
        """The index, from the files the first time. Raises ConfigError."""
        with self._reading:
            if self._index is None:
                self._index = self._backend.load([Path(file.path) for file in self._files])
            return self._index


_LOOKUP = Lock()  # two threads get one content; no file is read under it
_content = lru_cache(maxsize=16)(_Content)


def plain(name: str) -> str:
    """Write a name as it is compared: in one case, with single spaces."""
    return " ".join(name.casefold().split())


def locate_data(shipped: Shipped | None, path: str | None, what: str) -> Path:
    """The path of shipped or of custom data. Raises ConfigError unless exactly one is named."""
    if (shipped is None) == (path is None):
        raise ConfigError(f"{what}: name either shipped or path, found shipped {shipped!r} and path {path!r}")
    if shipped is None:
        return Path(str(path)).expanduser()
    return DATA / (shipped if shipped == "corpus" else f"{shipped}.jsonl")


def missing_data(place: Path, how: str) -> str:
    """The message about a missing path; empty if it exists."""
    return "" if place.exists() else f"there is no {place}: {how}"


def stamp(path: Path) -> Stamp:
    """The file's stamp."""
    status = path.stat()
    return Stamp(str(path.absolute()), status.st_mtime_ns, status.st_size)


def first_rows(place: Path) -> Iterator[Row]:
    """The first row of a .jsonl file, or of each in a folder: what can be checked before a run. Raises ConfigError."""
    for file in sorted(place.glob("*.jsonl")) if place.is_dir() else [place]:
        if file.is_file() and file.suffix == ".jsonl":
            yield from islice(json_lines(file), 1)
