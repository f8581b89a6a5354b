"""EntityRecognizor: the medical mentions in a text, with their places; works without a network or a model.

Source: item 14 of ReflecTool's tools ("Spacy"), Liao et al. 2024, arXiv 2410.17657, which runs scispaCy's
en_core_sci_sm; the spelling of the name is the paper's. Here a blank spaCy pipeline, a vocabulary and rules;
an installed pipeline such as scispaCy's takes the rules' place when it is named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
from annotated_types import MinLen

from components.acting.text_arguments import given_text, missing_model, text_spec
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import ToolTraits
from components.core.types import Observation
from components.tools.data_files import Shipped, Stamp, lacking, located, stamp
from components.tools.entity_terms import Entry, entries
from components.tools.loading import LOADING

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.matcher import PhraseMatcher
    from spacy.tokens import Doc

_SPEC = text_spec(
    "EntityRecognizor",
    "Find the medical entities (diseases, symptoms, drugs, anatomy, procedures, tests, genes) that a text mentions,"
    " with their places in it.",
    "sentence",
    "The text to search.",
    "data",
)
Origin = Literal["vocabulary", "abbreviation", "model", "phrase"]
_ORDER: Sequence[Origin] = ("vocabulary", "abbreviation", "model", "phrase")


@dataclass(frozen=True)
class Mention:
    """Characters ``start`` to ``end`` (exclusive) of a text and how they were found; the concept where it is known."""

    start: int
    end: int
    origin: Origin
    entry: Entry | None = None
    long_form: str = ""

    def told(self, text: str) -> dict[str, Any]:
        """What the model sees."""
        found: dict[str, Any] = {"entity": text[self.start : self.end], "start": self.start, "end": self.end}
        if self.entry is not None:
            found |= {"cui": self.entry.cui, "name": self.entry.name, "type": self.entry.semantic_type}
        return found | ({"long_form": self.long_form} if self.long_form else {})


@dataclass(frozen=True)
class _Reader:
    """A pipeline with what it matches; ``entries``: lower-cased term -> its concept."""

    pipeline: Language
    matcher: PhraseMatcher
    entries: Mapping[str, Entry]


@dataclass(frozen=True)
class EntityRecognizor:
    """The medical mentions in a text.

    ``shipped`` names a vocabulary that ships with the tools, ``vocabulary`` files of one's own in the same form
    (JSON Lines: cui, name, synonyms, semantic_type); ``model`` an installed spaCy pipeline whose entities are taken
    in place of the rules' phrases. Output: a JSON list of {entity, start, end} in the order of the text, with cui,
    name and type where a vocabulary holds it, and long_form for an abbreviation; none overlap, the longest counts.
    """

    shipped: Shipped | None = None
    vocabulary: Sequence[str] = ()
    model: Annotated[str, MinLen(1)] | None = None
    effect: Effect = "pure"

    def __post_init__(self) -> None:
        if not self._lacking:
            entries(self._stamps)

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return _SPEC

    @property
    def traits(self) -> ToolTraits:
        """What identifies its answers, and what it lacks."""
        return ToolTraits(missing=self.missing)

    @property
    def missing(self) -> str:
        """What must be installed, or given, first."""
        return self._lacking or missing_model(_SPEC.name, self.model)

    @property
    def _lacking(self) -> str:
        """The first vocabulary that is not there."""
        how = "EntityRecognizor reads a vocabulary there, JSON Lines with cui, name, synonyms, semantic_type"
        return next((text for path in self._files if (text := lacking(path, how))), "")

    @property
    def _files(self) -> list[Path]:
        """The vocabularies, the shipped one last: of two entries for a term the user's counts."""
        own = [Path(path).expanduser() for path in self.vocabulary]
        return own if self.shipped is None else [*own, located(self.shipped, None, _SPEC.name)]

    @property
    def _stamps(self) -> tuple[Stamp, ...]:
        """The vocabularies as they are now."""
        return tuple(map(stamp, self._files))

    async def __call__(self, context: Context, sentence: Any) -> Observation:
        """Find the mentions. Raises ToolError."""
        text = given_text(_SPEC, sentence)
        if self.missing:
            raise ToolError(self.missing, "unavailable")
        mentions = await asyncio.to_thread(self._find, text)
        told = [mention.told(text) for mention in mentions]
        listed = [one | {"origin": mention.origin} for one, mention in zip(told, mentions, strict=True)]
        return Observation(orjson.dumps(told).decode(), {"mentions": listed})

    def _find(self, text: str) -> list[Mention]:
        """The mentions in the order of the text."""
        with LOADING:
            reader = _reader(self._stamps, self.model)
        doc = reader.pipeline(text)
        found = [*_known(doc, reader), *_shortened(doc, reader)]
        found += _modelled(doc) if self.model is not None else _phrases(doc, found)
        return longest(found, len(text))


def longest(mentions: Iterable[Mention], length: int) -> list[Mention]:
    """Mentions without those that overlap a longer one, or an equal one of a surer origin, in their order."""
    kept, taken = [], bytearray(length)
    for one in sorted(mentions, key=lambda m: (m.start - m.end, _ORDER.index(m.origin), m.start)):
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"\1" * (one.end - one.start)
            kept.append(one)
    return sorted(kept, key=lambda m: m.start)


def _known(doc: Doc, reader: _Reader) -> Iterable[Mention]:
    """What the vocabulary holds."""
    for term, first, after in reader.matcher(doc):
        span = doc[first:after]
        yield Mention(span.start_char, span.end_char, "vocabulary", reader.entries[doc.vocab.strings[term]])


def _shortened(doc: Doc, reader: _Reader) -> Iterable[Mention]:
    """Abbreviations that the text explains, wherever they stand, and their long forms."""
    from components.tools.entity_rules import abbreviations

    text = doc.text
    explained = abbreviations(text)
    for span in explained.values():
        yield Mention(span.start, span.end, "abbreviation", reader.entries.get(text[span.start : span.end].lower()))
    for token in doc:
        if token.text in explained:
            long_form = text[explained[token.text].start : explained[token.text].end]
            entry = reader.entries.get(long_form.lower())
            yield Mention(token.idx, token.idx + len(token), "abbreviation", entry, long_form)


def _modelled(doc: Doc) -> Iterable[Mention]:
    """What the pipeline itself found."""
    return [Mention(span.start_char, span.end_char, "model") for span in doc.ents]


def _phrases(doc: Doc, surer: Sequence[Mention]) -> Iterable[Mention]:
    """What the rules find; a phrase that holds a surer mention must end with it ("acute heart failure")."""
    from spacy.lang.en.stop_words import STOP_WORDS

    from components.tools.entity_rules import Word, phrases, rules

    ends, taken = {mention.end for mention in surer}, bytearray(len(doc.text))
    for mention in surer:
        taken[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
    words = [Word(token.text, token.idx, bool(token.whitespace_)) for token in doc]
    for span in phrases(words, rules(frozenset(STOP_WORDS))):
        if span.end in ends or not any(taken[span.start : span.end]):
            yield Mention(span.start, span.end, "phrase")


@lru_cache(maxsize=4)
def _reader(files: tuple[Stamp, ...], model: str | None) -> _Reader:
    """The pipeline and the terms of these files."""
    import spacy
    from spacy.matcher import PhraseMatcher

    pipeline = spacy.load(model) if model is not None else spacy.blank("en")
    known = entries(files)
    matcher = PhraseMatcher(pipeline.vocab, attr="LOWER")
    for term in known:
        matcher.add(term, [pipeline.make_doc(term)])
    return _Reader(pipeline, matcher, known)
