"""Data sets that are read from files: where a split's files are, how they are read, and the sample of each row.

A data set declares ``title``, ``how`` (to get the files) and ``split_names``, and implements ``paths``, ``read`` and
``sample``. Checks of splits and files, errors, fingerprint and order are the same for all.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.rows import Row, existing, files_digest

Item = TypeVar("Item")


class Part(NamedTuple):
    """A file of a split; ``name`` is the part of the data set that it holds."""

    split: str
    name: str
    file: Path


@dataclass(frozen=True)
class FileDataset(ABC, Generic[Item]):
    """Samples in the order of the files, of which those of ``split`` are evaluated. ``privacy`` of other data than open
    ones keeps them from models that do not permit it."""

    _: KW_ONLY
    split: str = "test"
    privacy: Privacy = "open"

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
        return digest

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
        return [Part(split, name, existing(file, self.how)) for name, file in self.paths(split).items()]


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
