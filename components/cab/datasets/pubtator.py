"""Documents in PubTator format: title, abstract, and mentions of concepts with their positions.

Source: Wei et al. 2013, Nucleic Acids Research 41:W518; the form is that of MedMentions (Mohan and Li 2019, AKBC).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from components.core.errors import ConfigError


@dataclass(frozen=True)
class Mention:
    """A span, ``start`` to ``end`` counted from 0 in title + one character + abstract, and its concept."""

    start: int
    end: int
    text: str
    types: str
    concept: str


@dataclass(frozen=True)
class Document:
    """A titled abstract and its mentions in the file's order."""

    pmid: str
    title: str
    abstract: str
    mentions: Sequence[Mention]


def documents(lines: Iterable[str], place: str) -> Iterator[Document]:
    """The documents, which empty lines part. Raises ConfigError with ``place`` and line."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            block.append((number, line.rstrip("\r\n")))
        elif block:
            yield _document(block, place)
            block = []
    if block:
        yield _document(block, place)


def _document(block: Sequence[tuple[int, str]], place: str) -> Document:
    """A document. Raises ConfigError."""
    texts = []
    for (number, line), mark in zip(block, "ta", strict=False):
        pmid, *rest = line.split("|", 2)
        if len(rest) != 2 or rest[0] != mark:
            raise ConfigError(f"{place}:{number}: must be 'PMID|{mark}|text', found {line!r:.60}")
        texts.append((pmid, rest[1]))
    if len(texts) < 2 or texts[0][0] != texts[1][0]:
        raise ConfigError(f"{place}:{block[0][0]}: a document must have a title and an abstract of the same PMID")
    pmid = texts[0][0]
    mentions = [_mention(line, pmid, f"{place}:{number}") for number, line in block[2:]]
    return Document(pmid, texts[0][1], texts[1][1], mentions)


def _mention(line: str, pmid: str, place: str) -> Mention:
    """A mention. Raises ConfigError."""
    cells = line.split("\t")
    if len(cells) != 6 or cells[0] != pmid or not (cells[1].isdecimal() and cells[2].isdecimal()) or not cells[3]:
        raise ConfigError(f"{place}: must be 'PMID start end mention types concept' with tabs, found {line!r:.60}")
    return Mention(int(cells[1]), int(cells[2]), cells[3], cells[4], cells[5].removeprefix("UMLS:"))
