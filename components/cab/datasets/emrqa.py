"""emrQA: questions on clinical notes whose answers are extracts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.file_dataset import FileDataset, Part, draw, task_sample
from components.files.rows import Row, content_key, json_records


@dataclass(frozen=True)
class EmrQa(FileDataset[Sample]):
    """emrQA: questions on clinical notes whose answers are extracts of the note.

    Source: Pampari et al. 2018, EMNLP (``panushri25/emrQA``); generated from the i2b2 challenges 2006-2014, so it needs
    the n2c2 data use agreement and is never shipped. ClinicalAgent Bench takes 1,000 questions of its SQuAD-like form.
    Questions are in their first wording with the note as context; the target's answer is the first extract.
    ``path`` holds ``data.json``. The data have no split: a fifth of the notes, chosen with ``seed``, is ``train``,
    so no note is in both. ``titles`` chooses data sets in the file (empty: all), ``questions`` so many of a split
    (null: all). Questions without an extract are left out. Raises ConfigError with file, record and key.
    """

    path: str
    titles: tuple[str, ...] = ()
    questions: Annotated[int, Ge(1)] | None = 1000
    seed: int = 0
    privacy: Privacy = field(default="credentialed", kw_only=True)
    title = "emrQA"
    split_names = ("test", "train")
    how = (
        "sign the n2c2 data use agreement, run the generation scripts of github.com/panushri25/emrQA and give "
        "dataset.path=... the folder that holds data.json"
    )

    def paths(self, split: str) -> Mapping[str, Path]:
        """One file for both splits."""
        return {"emrqa": Path(self.path) / "data.json"}

    def identify(self, digest: str) -> str:
        """Add what is chosen of the file."""
        return content_key(*self.titles, f"{self.questions}/{self.seed}", digest)

    def read(self, part: Part) -> Iterable[Sample]:
        """Read all questions of the split and choose some. Raises ConfigError."""
        notes = [
            (entry.text("title"), paragraph.text("note_id"), paragraph)
            for entry in json_records(part.file, "data")
            for paragraph in entry.rows("paragraphs")
        ]
        titles = list(dict.fromkeys(title for title, _, _ in notes))
        if unknown := [title for title in self.titles if title not in titles]:
            raise ConfigError(f"dataset.titles: {part.file} has {', '.join(titles)}; found {', '.join(unknown)}")
        if self.titles:
            notes = [note for note in notes if note[0] in self.titles]
        names = sorted({name for _, name, _ in notes})
        train = set(draw(names, len(names) // 5, f"{self.seed}/notes"))
        chosen = [note for note in notes if (note[1] in train) == (part.split == "train")]
        samples = [sample for note in chosen for sample in _samples(*note)]
        return draw(samples, self.questions, f"{self.seed}/{part.split}")

    def sample(self, item: Sample, part: Part) -> Sample:
        """Return it as it is."""
        return item


def _samples(title: str, note: str, row: Row) -> Iterator[Sample]:
    """The questions on a note. Raises ConfigError."""
    context = _text(row, "context", join=True)
    for number, question in enumerate(row.rows("qas"), 1):
        texts = [one.values.get("text") for one in question.rows("answers")]
        extracts = [text.strip() for text in texts if isinstance(text, str)]
        if len(extracts) < len(texts):
            raise question.error("answers", "every answer must have a text")
        if extracts := [text for text in extracts if text]:
            name, text, target = f"emrqa-{title}-{note}-{number}", _text(question, "question"), {"answer": extracts[0]}
            facts, strata = {"extracts": extracts}, {"source": title}
            yield task_sample(
                "emrqa", "data", name, text, target, context=context, metadata=facts, strata=strata, cluster=note
            )


def _text(row: Row, key: str, join: bool = False) -> str:
    """A text, or of a list of texts the first, or all joined. Raises ConfigError."""
    if isinstance(row.values.get(key), str):
        return row.text(key).strip()
    texts = row.texts(key)
    text = ("".join(texts) if join else next(iter(texts), "")).strip()
    if not text:
        raise row.error(key, "must not be empty")
    return text
