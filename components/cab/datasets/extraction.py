"""What a text holds: extracts of clinical notes (emrQA), and concepts marked in abstracts (MedMentions)."""

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from annotated_types import Ge

from components.core.errors import ConfigError
from components.core.types import Privacy, Sample
from components.files.file_dataset import FileDataset, OneFile, Part, SampleDataset, draw, task_sample
from components.files.rows import Row, content_key, json_records, require_file


@dataclass(frozen=True)
class EmrQa(OneFile[Sample], SampleDataset):
    """emrQA: questions on clinical notes whose answers are extracts of the note.

    Source: Pampari et al. 2018, EMNLP (``panushri25/emrQA``); generated from the i2b2 challenges 2006-2014, so it needs
    the n2c2 data use agreement and is never shipped. ClinicalAgent Bench takes 1,000 questions of its SQuAD-like form.
    Questions are in their first wording with the note as context; the target's answer is the first extract.
    ``path`` holds ``data.json``. The data have no split: a fifth of the notes, chosen with ``seed``, is ``train``,
    so no note is in both. ``titles`` chooses data sets in the file (empty: all), ``questions`` so many of a split
    (null: all). Questions without an extract are left out. Raises ConfigError with file, record and key.
    """

    titles: tuple[str, ...] = ()
    questions: Annotated[int, Ge(1)] | None = 1000
    seed: int = 0
    privacy: Privacy = field(default="credentialed", kw_only=True)
    title = "emrQA"
    part = "emrqa"
    file = "data.json"
    split_names = ("test", "train")
    how = (
        "sign the n2c2 data use agreement, run the generation scripts of github.com/panushri25/emrQA and give "
        "dataset.path=... the folder that holds data.json"
    )

    def identify(self, digest: str) -> str:
        """Add the choice of records in the file."""
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


def _samples(title: str, note: str, row: Row) -> Iterator[Sample]:
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


_LISTS = {"test": "test", "dev": "dev", "train": "trng"}


class Mention(TypedDict):
    """A span, ``start`` to ``end`` counted from 0 in title + one character + abstract, and its concept."""

    entity_name: str
    concept: str
    types: str
    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """A titled abstract and its mentions in the file's order."""

    pmid: str
    title: str
    abstract: str
    mentions: Sequence[Mention]


@dataclass(frozen=True)
class MedMentions(FileDataset[Document]):
    """MedMentions: titles and abstracts of PubMed in which experts marked every mention of a UMLS concept.

    Source: Mohan and Li 2019, AKBC (CC0 1.0; ``chanzuckerberg/MedMentions``), read in PubTator format (Wei et al. 2013,
    Nucleic Acids Research 41:W518) with its official split: 2,635 documents trng, 878 dev, 879 test. ClinicalAgent
    Bench asks for the names of the test documents.
    Documents are the context; the target's answer is a list of the mentions in order, with position and concept.
    ``path`` holds ``full/data`` with the corpus and the split's PMID lists; ``corpus`` st21pv is the subset of 21
    semantic types, in ``st21pv/data``. ``ask`` is the question. Raises ConfigError with file, line or PMID.
    """

    path: str
    corpus: Literal["full", "st21pv"] = "full"
    ask: str = "List the names of all biomedical concepts that the text mentions, in square brackets: [name, name]."
    title = "MedMentions"
    settings = "{0.corpus}"
    split_names = tuple(_LISTS)

    @property
    def how(self) -> str:
        """How to get corpus and lists."""
        return (
            f"take {self.corpus}/data/corpus_pubtator.txt.gz and the PMID lists in full/data/ from "
            "github.com/chanzuckerberg/MedMentions and give dataset.path=..."
        )

    def paths(self, split: str) -> Mapping[str, Path]:
        """One corpus for all splits."""
        return {self.corpus: Path(self.path) / self.corpus / "data" / "corpus_pubtator.txt.gz"}

    def contents(self, split: str) -> Sequence[Path]:
        """Name the corpus and the split's list."""
        return [*super().contents(split), self._list(split)]

    def read(self, part: Part) -> Iterator[Document]:
        """Read the documents that the split's list names. Raises ConfigError when one is missing."""
        corpus, names = part.file, self._list(part.split)
        missing = set(names.read_text(encoding="utf-8").split())
        try:
            with gzip.open(corpus, "rt", encoding="utf-8") as file:
                for document in documents(file, str(corpus)):
                    if document.pmid in missing:
                        missing.discard(document.pmid)
                        yield document
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise ConfigError(f"{corpus}: not a whole gzip file of UTF-8 text: {error}") from None
        if missing:
            raise ConfigError(f"{names}: {min(missing)}: there is no such document in {corpus}")

    def sample(self, item: Document, part: Part) -> Sample:
        """Make the question on a document."""
        name, target = f"medmentions-{item.pmid}", {"answer": [dict(mention) for mention in item.mentions]}
        context, facts = f"{item.title}\n{item.abstract}".strip(), {"pmid": item.pmid}
        return task_sample("medmentions", "data", name, self.ask, target, context=context, metadata=facts)

    def _list(self, split: str) -> Path:
        return require_file(Path(self.path) / "full" / "data" / f"corpus_pubtator_pmids_{_LISTS[split]}.txt", self.how)


def documents(lines: Iterable[str], place: str) -> Iterator[Document]:
    """Read documents in PubTator format, separated by empty lines. Raises ConfigError with ``place`` and line."""
    for blank, block in groupby(enumerate(lines, 1), key=lambda numbered: not numbered[1].strip()):
        if not blank:
            yield _document([(number, line.rstrip("\r\n")) for number, line in block], place)


def _document(block: Sequence[tuple[int, str]], place: str) -> Document:
    texts = []
    for (number, line), mark in zip(block, "ta", strict=False):
        pmid, *rest = line.split("|", 2)
        if len(rest) != 2 or rest[0] != mark:
            raise ConfigError(f"{place}:{number}: must be 'PMID|{mark}|text', found {line!r:.60}")
        texts.append((pmid, rest[1]))
    if len(texts) < 2 or texts[0][0] != texts[1][0]:
        raise ConfigError(f"{place}:{block[0][0]}: a document must have a title and an abstract of the same PMID")
    (pmid, title), (_, abstract) = texts
    mentions: list[Mention] = []
    for number, line in block[2:]:
        cells = line.split("\t")
        if len(cells) != 6 or cells[0] != pmid or not (cells[1].isdecimal() and cells[2].isdecimal()) or not cells[3]:
            form = "'PMID start end mention types concept' with tabs"
            raise ConfigError(f"{place}:{number}: must be {form}, found {line!r:.60}")
        _, start, end, name, types, concept = cells
        concept = concept.removeprefix("UMLS:")
        mentions.append(Mention(entity_name=name, concept=concept, types=types, start=int(start), end=int(end)))
    return Document(pmid, title, abstract, mentions)
