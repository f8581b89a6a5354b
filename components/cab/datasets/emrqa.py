"""emrQA: questions on clinical notes whose answers are extracts of the note.

Source: Pampari et al. 2018, EMNLP (``panushri25/emrQA``); generated from the i2b2 challenges 2006-2014, so it needs
the n2c2 data use agreement and is never shipped. ClinicalAgent Bench takes 1,000 questions of its SQuAD-like form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.kept_files import content_key
from components.files.rows import Row, existing, files_digest
from components.files.seeded_draw import drawn
from components.files.tables import read_json, records_of
from components.files.task_samples import cab_sample, check_split

_SPLITS = ("test", "train")
_HOW = (
    "sign the n2c2 data use agreement, run the generation scripts of github.com/panushri25/emrQA and give "
    "dataset.path=... the folder that holds data.json"
)


@dataclass(frozen=True)
class EmrQa:
    """Questions in their first wording with the note as context; the target's answer is the first extract.

    ``path`` holds ``data.json``. The data have no split: a fifth of the notes, drawn with ``seed``, is ``train``,
    so no note is in both. ``titles`` chooses data sets in the file (empty: all), ``questions`` draws so many of a
    split (null: all). Questions without an extract are left out. Raises ConfigError with file, record and key.
    """

    path: str
    split: str = "test"
    titles: tuple[str, ...] = ()
    questions: Annotated[int, Ge(1)] | None = 1000
    seed: int = 0
    privacy: Privacy = "credentialed"

    @property
    def splits(self) -> Sequence[str]:
        """Four fifths of the notes, and the rest."""
        return _SPLITS

    @cached_property
    def fingerprint(self) -> str:
        """Content of the file, and what is drawn of it."""
        return content_key(*self.titles, f"{self.questions}/{self.seed}", files_digest(self._file))

    def load(self, split: str) -> Iterator[Sample]:
        """The questions of a split in the file's order. Raises ConfigError."""
        check_split("emrQA", split, _SPLITS)
        notes = self._notes(self._file)
        names = sorted({note for _, note, _ in notes})
        train = set(drawn(names, len(names) // 5, f"{self.seed}/notes"))
        samples = [
            sample
            for title, note, row in notes
            if (note in train) == (split == "train")
            for sample in _samples(title, note, row)
        ]
        return iter(drawn(samples, self.questions, f"{self.seed}/{split}"))

    def _notes(self, file: Path) -> list[tuple[str, str, Row]]:
        """Title, note's id and paragraph of each note. Raises ConfigError."""
        notes = [
            (entry.text("title"), paragraph.text("note_id"), paragraph)
            for entry in records_of(read_json(file), str(file), "data")
            for paragraph in records_of(dict(entry.values), entry.place, "paragraphs")
        ]
        titles = list(dict.fromkeys(title for title, _, _ in notes))
        if unknown := [title for title in self.titles if title not in titles]:
            raise ConfigError(f"dataset.titles: {file} has {', '.join(titles)}; found {', '.join(unknown)}")
        return [note for note in notes if not self.titles or note[0] in self.titles]

    @property
    def _file(self) -> Path:
        return existing(Path(self.path) / "data.json", _HOW)


def _samples(title: str, note: str, row: Row) -> Iterator[Sample]:
    """The questions on a note. Raises ConfigError."""
    context = _first(row, "context", "")
    for number, asked in enumerate(records_of(dict(row.values), row.place, "qas"), 1):
        extracts = [one.values.get("text") for one in records_of(dict(asked.values), asked.place, "answers")]
        if any(not isinstance(text, str) for text in extracts):
            raise asked.error("answers", "every answer must have a text")
        said = [str(text).strip() for text in extracts if str(text).strip()]
        if said:
            yield cab_sample(
                "emrqa",
                f"emrqa-{title}-{note}-{number}",
                _first(asked, "question", None),
                {"answer": said[0]},
                context=context,
                metadata={"extracts": said},
                strata={"source": title},
                cluster=note,
            )


def _first(row: Row, key: str, joined_by: str | None) -> str:
    """A text, or a list of texts: joined, or the first of them. Raises ConfigError."""
    values: Mapping[str, Any] = row.values
    if isinstance(values.get(key), str):
        return row.text(key).strip()
    texts = row.texts(key)
    text = (joined_by.join(texts) if joined_by is not None else next(iter(texts), "")).strip()
    if not text:
        raise row.error(key, "must not be empty")
    return text
