"""Data sets that are read from files: where a split's files are, how they are read, and the sample of each row; what
every sample of a task holds, and seeded draws.

A data set declares ``title``, ``how`` (to get the files), ``split_names`` and ``settings``, and implements ``paths``,
``read`` and ``sample``. Checks of splits and files, errors, fingerprint and order are the same for all.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from inspect import getfile
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from components.core.errors import ConfigError
from components.core.types import Privacy, Problem, Sample
from components.files.attachments import Attached
from components.files.rows import Row, content_key, files_digest, require_file

Item = TypeVar("Item")
HOW = "set CLINICAL_DATA_DIR to the folder that holds {}/, or {} and give dataset.path={}"


class Part(NamedTuple):
    """A file of a split; ``name`` is the part of the data set that it holds."""

    split: str
    name: str
    file: Path


@dataclass(frozen=True)
class FileDataset(ABC, Generic[Item]):
    """Samples in the order of the files, of which those of ``split`` are evaluated. ``privacy`` of other data than open
    ones keeps them from models that do not permit it. ``settings`` are those that change the samples, its fields in
    braces, such as ``{0.wording}``: a text stands in front of the digest of the files, several are hashed with it."""

    _: KW_ONLY
    split: str = "test"
    privacy: Privacy = "open"
    settings: ClassVar[str | tuple[str, ...]] = ""

    @property
    @abstractmethod
    def title(self) -> str:
        """The data set's name in messages."""

    @property
    @abstractmethod
    def how(self) -> str:
        """How to get the files."""

    @property
    @abstractmethod
    def split_names(self) -> Sequence[str]:
        """The splits of the data set, whether or not their files are there."""

    @abstractmethod
    def paths(self, split: str) -> Mapping[str, Path]:
        """Part -> file of a split, whether or not it is there."""

    @abstractmethod
    def read(self, part: Part) -> Iterable[Item]:
        """Read the items of a file: a list where all must be checked before the first sample. Raises ConfigError."""

    @abstractmethod
    def sample(self, item: Item, part: Part) -> Sample:
        """Make the sample of an item. Raises ConfigError."""

    @property
    def splits(self) -> Sequence[str]:
        """The splits whose files are there."""
        files = {split: list(self.paths(split).values()) for split in self.split_names}
        return tuple(split for split, there in files.items() if there and all(file.is_file() for file in there))

    @cached_property
    def fingerprint(self) -> str:
        """The content of the evaluated split, and the settings that change its samples."""
        return self.identify(files_digest(*self.contents(self.split)))

    def contents(self, split: str) -> Sequence[Path]:
        """Name the files that decide what the samples of a split are. Raises ConfigError."""
        return [part.file for part in self.locate(split)]

    def identify(self, digest: str) -> str:
        """Add the settings that change the samples to the digest of the files."""
        if isinstance(self.settings, str):
            return f"{self.settings.format(self)}-{digest}" if self.settings else digest
        return content_key(*(one.format(self) for one in self.settings), digest)

    def load(self, split: str) -> Iterator[Sample]:
        """Read the samples of a split. Raises ConfigError."""
        found = list(self.items(split))
        return (self.sample(item, part) for part, items in found for item in items)

    def items(self, split: str) -> Iterable[tuple[Part, Iterable[Item]]]:
        """Read the items of a split, file by file. Raises ConfigError."""
        return [(part, self.read(part)) for part in self.locate(split)]

    def locate(self, split: str) -> list[Part]:
        """Return the files of a split. Raises ConfigError when there is no such split or file."""
        if split not in self.split_names:
            have = ", ".join(self.split_names) or "no split here"
            raise ConfigError(f"dataset.split: {self.title} has {have}; found {split!r}")
        return [Part(split, name, require_file(file, self.how)) for name, file in self.paths(split).items()]


@dataclass(frozen=True)
class OneFile(FileDataset[Item]):
    """A data set in the folder ``path`` that declares its ``part``, and its ``file``: that of a ``{split}``, of all, or
    one for each."""

    path: str
    part: ClassVar[str]
    file: ClassVar[str | Mapping[str, str]]

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file."""
        file = self.file if isinstance(self.file, str) else self.file[split]
        return {self.part: Path(self.path) / file.format(split=split)}


@dataclass(frozen=True)
class FolderDataset(FileDataset[Item]):
    """A data set in the folder ``path``, or in ``shipped``, a folder next to the module of its class; the first that is
    given counts. Raises ConfigError where neither is."""

    _: KW_ONLY
    path: str | None = None
    shipped: str | None = None

    def __post_init__(self) -> None:
        if self.path is None and self.shipped is None:
            raise ConfigError(f"dataset.path: no data; {self.how}")

    @property
    def root(self) -> Path:
        """The folder, whether or not it is there."""
        if self.path is not None:
            return Path(self.path).expanduser()
        return Path(getfile(type(self))).parent / str(self.shipped)


class SampleDataset(FileDataset[Sample]):
    """A data set whose items are the samples."""

    def sample(self, item: Sample, part: Part) -> Sample:
        """Return it as it is."""
        return item


class ImageQuestion(NamedTuple):
    """A question with its image; ``name`` identifies it within its file."""

    name: str
    row: Row
    image: Path


@dataclass(frozen=True)
class ImageDataset(FileDataset[ImageQuestion]):
    """Questions on images, which must all be there before the first sample."""

    def contents(self, split: str) -> Sequence[Path]:
        """Name the files of the questions, and the images that they show."""
        images = {one.image for _, items in self.items(split) for one in items}
        return [*super().contents(split), *sorted(images)]


NO_RESULT = "If the database does not hold what is asked for, reply: No result."


def task_sample(
    task: str,
    dimension: str,
    name: str,
    question: str,
    target: Any,
    *,
    choices: Mapping[str, str] | None = None,
    context: str = "",
    files: Attached | None = None,
    metadata: Mapping[str, Any] | None = None,
    strata: Mapping[str, str] | None = None,
    cluster: str | None = None,
) -> Sample:
    """Make a sample of a task of ClinicalAgent Bench: its metadata hold the task, its strata task and dimension."""
    files = files or Attached()
    return Sample(
        Problem(name, question, dict(choices or {}), context, files.images, files.inputs),
        target=target,
        metadata={"task": task, **(metadata or {})},
        cluster=cluster,
        strata={"task": task, "dimension": dimension, **(strata or {})},
        files=files.files,
    )


def add_request(question: str, request: str) -> str:
    """Add a request, such as the form of the answer, to a question, on its own line."""
    return f"{question}\n{request}".strip()


def row_options(row: Row, most: int, least: int = 2) -> dict[str, str]:
    """Read the row's ``options``: letter -> text, from A on without a gap, none empty. Raises ConfigError."""
    options = row.named_texts("options")
    if not least <= len(options) <= most:
        counts = f"{least}" if least == most else f"{least} to {most}"
        raise row.error("options", f"must be {counts} options, found {len(options)}")
    if sorted(options) != list(ascii_uppercase[: len(options)]):
        raise row.error("options", f"must be lettered from A on, found {', '.join(options)}")
    if empty := [letter for letter in sorted(options) if not options[letter].strip()]:
        raise row.error("options", f"option {empty[0]} is empty")
    return {letter: options[letter] for letter in sorted(options)}


def row_letter(row: Row, key: str, options: Mapping[str, str]) -> str:
    """Read the letter of the right option. Raises ConfigError."""
    letter = row.text(key)
    if letter not in options:
        raise row.error(key, f"must be one of the options {', '.join(options)}, found {letter!r}")
    return letter


def explanation(row: Row, key: str) -> dict[str, str]:
    """Read ``explanation`` for a sample's metadata, where the row has one: for solved examples. Raises ConfigError."""
    text = row.optional_text(key)
    return {"explanation": text} if text else {}


def draw(items: Sequence[Item], n: int | None, seed: str) -> list[Item]:
    """Choose ``n`` of the items (all, where there are no more, or ``n`` is None)."""
    if n is None or n >= len(items):
        return list(items)
    return [items[i] for i in sorted(Random(seed).sample(range(len(items)), n))]


def draw_split(items: Sequence[Item], n: int | None, seed: str, split: str) -> list[Item]:
    """Choose ``n`` of the items for the split test; for any other one as many of the rest."""
    chosen = draw(range(len(items)), n, seed)
    if split != "test":
        taken = set(chosen)
        chosen = draw([i for i in range(len(items)) if i not in taken], n, f"{seed}/{split}")
    return [items[i] for i in chosen]


def draw_in_proportion(groups: Mapping[str, Sequence[Item]], n: int | None, seed: str) -> dict[str, list[Item]]:
    """Choose ``n`` items in all, from each group its share (largest remainders, ties in the groups' order)."""
    total = sum(len(group) for group in groups.values())
    if n is None or n >= total:
        return {name: list(group) for name, group in groups.items()}
    shares = {name: divmod(n * len(group), total) for name, group in groups.items()}
    counts = {name: whole for name, (whole, _) in shares.items()}
    by_remainder = sorted(shares, key=lambda name: -shares[name][1])
    for name in by_remainder[: n - sum(counts.values())]:
        counts[name] += 1
    return {name: draw(group, counts[name], f"{seed}/{name}") for name, group in groups.items()}
