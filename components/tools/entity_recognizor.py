"""EntityRecognizor: the medical mentions in a text, with their places; works without a network or a model.

Source: item 14 of ReflecTool's tools ("Spacy"), Liao et al. 2024, arXiv 2410.17657, which runs scispaCy's
en_core_sci_sm; the spelling of the name is the paper's. Here a vocabulary and rules; an installed spaCy pipeline such
as scispaCy's takes the rules' place when it is named.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import orjson
from annotated_types import MinLen

from components.acting.arguments import LOADING, missing_model
from components.core.messages import ToolSpec
from components.core.types import Observation
from components.files.rows import json_lines
from components.tools.backends import Shipped, Stamp, TextTool, locate_data, missing_data, spec_of, stamp
from components.tools.entity_rules import Word, abbreviations, phrases, rules, split


@dataclass(frozen=True)
class Entry:
    """An entry of a vocabulary."""

    cui: str
    name: str
    semantic_type: str


class Terms(NamedTuple):
    """``entries``: lower-cased term -> its entry; ``by_tokens``: the same by tokens, of which ``n_longest`` at most."""

    entries: Mapping[str, Entry]
    by_tokens: Mapping[tuple[str, ...], Entry]
    n_longest: int


@lru_cache(maxsize=4)
def read_terms(files: tuple[Stamp, ...]) -> Terms:
    """The terms of vocabularies in JSON Lines with cui, name, synonyms and semantic_type.

    Plurals in -s are added; the first entry of a term counts. Raises ConfigError, naming line and key, for a row that
    is not as it should be.
    """
    entries: dict[str, Entry] = {}
    for file in files:
        for row in json_lines(Path(file.path)):
            entry = Entry(row.text("cui"), row.text("name"), row.text("semantic_type"))
            for term in (entry.name, *row.texts("synonyms")):
                entries.setdefault(term.strip().lower(), entry)
    for term in [term for term in entries if not term.endswith("s")]:
        entries.setdefault(f"{term}s", entries[term])
    by_tokens = {tuple(word.text for word in split(term)): entry for term, entry in entries.items()}
    return Terms(entries, by_tokens, max(map(len, by_tokens), default=0))


Origin = Literal["vocabulary", "abbreviation", "model", "phrase"]  # the most certain one first


@dataclass(frozen=True)
class Mention:
    """Characters ``start`` to ``end`` (exclusive) of a text and how they were found; the concept where it is known."""

    start: int
    end: int
    origin: Origin
    entry: Entry | None = None
    long_form: str = ""

    def as_dict(self, text: str) -> dict[str, Any]:
        """What the model sees."""
        fields: dict[str, Any] = {"entity": text[self.start : self.end], "start": self.start, "end": self.end}
        if self.entry is not None:
            fields |= {"cui": self.entry.cui, "name": self.entry.name, "type": self.entry.semantic_type}
        return fields | ({"long_form": self.long_form} if self.long_form else {})


@dataclass(frozen=True)
class EntityRecognizor(TextTool):
    """The medical mentions in a text.

    ``shipped`` names a vocabulary that ships with the tools, ``vocabulary`` custom files in the same form
    (JSON Lines: cui, name, synonyms, semantic_type); ``model`` an installed spaCy pipeline whose entities are taken
    in place of the rules' phrases. Output: a JSON list of {entity, start, end} in the order of the text, with cui,
    name and type where a vocabulary has it, and long_form for an abbreviation; none overlap, the longest counts.
    """

    shipped: Shipped | None = None
    vocabulary: Sequence[str] = ()
    model: Annotated[str, MinLen(1)] | None = None
    spec: ClassVar[ToolSpec] = spec_of("EntityRecognizor")

    def __post_init__(self) -> None:
        if all(path.exists() for path in self._files):
            _ = self._terms

    @property
    def missing(self) -> str:
        """What must be installed or provided first."""
        how = "EntityRecognizor reads a vocabulary there, JSON Lines with cui, name, synonyms, semantic_type"
        absent = filter(None, (missing_data(path, how) for path in self._files))
        return next(absent, "") or missing_model(self.spec.name, self.model)

    @property
    def _files(self) -> list[Path]:
        """The vocabularies, the shipped one last: of two entries for a term the user's counts."""
        custom = [Path(path).expanduser() for path in self.vocabulary]
        return custom if self.shipped is None else [*custom, locate_data(self.shipped, None, self.spec.name)]

    @property
    def _terms(self) -> Terms:
        return read_terms(tuple(map(stamp, self._files)))

    async def answer(self, text: str) -> Observation:
        """Find the mentions. Raises ToolError."""
        mentions = await asyncio.to_thread(self._find, text)
        entities = [mention.as_dict(text) for mention in mentions]
        listed = [one | {"origin": mention.origin} for one, mention in zip(entities, mentions, strict=True)]
        return Observation(orjson.dumps(entities).decode(), {"mentions": listed})

    def _find(self, text: str) -> list[Mention]:
        words, terms = split(text), self._terms
        mentions = [*_known(words, terms), *_abbreviated(text, terms)]
        if self.model is None:
            mentions += _phrases(text, words, mentions)
        else:
            with LOADING:
                pipeline = _pipeline(self.model)
            mentions += [Mention(span.start_char, span.end_char, "model") for span in pipeline(text).ents]
        return longest(mentions, len(text))


@lru_cache(maxsize=4)
def _pipeline(model: str) -> Any:
    import spacy

    return spacy.load(model)


def longest(mentions: Iterable[Mention], length: int) -> list[Mention]:
    """Mentions without those that overlap a longer one, or an equal one of a more certain origin, in their order."""
    chosen, taken = [], bytearray(length)
    for one in sorted(mentions, key=lambda m: (m.start - m.end, get_args(Origin).index(m.origin), m.start)):
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            chosen.append(one)
    return sorted(chosen, key=lambda m: m.start)


def _known(words: Sequence[Word], terms: Terms) -> Iterable[Mention]:
    lowered = [word.text.lower() for word in words]
    for first, word in enumerate(words):
        for after in range(first + 1, min(first + terms.n_longest, len(words)) + 1):
            if (entry := terms.by_tokens.get(tuple(lowered[first:after]))) is not None:
                yield Mention(word.start, words[after - 1].end, "vocabulary", entry)


def _abbreviated(text: str, terms: Terms) -> Iterable[Mention]:
    """Abbreviations that the text explains, wherever they occur, and their long forms."""
    for short, span in abbreviations(text).items():
        long_form = text[span.start : span.end]
        entry = terms.entries.get(long_form.lower())
        yield Mention(span.start, span.end, "abbreviation", entry)
        for match in re.finditer(rf"(?<!\w){re.escape(short)}(?!\w)", text):
            yield Mention(match.start(), match.end(), "abbreviation", entry, long_form)


def _phrases(text: str, words: Sequence[Word], surer: Sequence[Mention]) -> Iterable[Mention]:
    """What the rules find; a phrase that holds a surer mention must end with it ("acute heart failure")."""
    ends, taken = {mention.end for mention in surer}, bytearray(len(text))
    for mention in surer:
        taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
    for span in phrases(words, rules()):
        if span.end in ends or not any(taken[span.start : span.end]):
            yield Mention(span.start, span.end, "phrase")
