"""How abusive a text is: by a lexicon, which needs no network, by a linear model, or by a service.

Source: item 17 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657, which asks the Perspective service. The
linear model counts words and characters (alt-profanity-check, trained on web comments); words of medicine and identity,
which such models mistake for abuse (Dixon et al. 2018, doi 10.1145/3278721.3278729), are hidden from it.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Protocol, runtime_checkable

import orjson

from components.acting.arguments import LOADING
from components.core.errors import ConfigError, missing_extra
from components.core.messages import ToolSpec
from components.core.types import Observation
from components.text.structured import read_yaml
from components.tools.backends import DATA, Backend, LookupTool, spec_of

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


@runtime_checkable
class ToxicityService(Backend, Protocol):
    """A service that judges texts. Raises ToolError."""

    async def score(self, text: str) -> Mapping[str, float]:
        """Kind of abuse -> score in 0-1, at least one."""


@dataclass(frozen=True)
class Lexicon:
    """``kinds``: kind -> the score that its terms give; terms by kind as one pattern; words hidden from the model."""

    scores: Mapping[str, float]
    terms: Mapping[str, re.Pattern[str]]
    neutral: re.Pattern[str]


@dataclass(frozen=True)
class ToxicityDetector(LookupTool):
    """How abusive a text is.

    Output: JSON with ``score`` in 0-1 and ``matched`` terms with kind and offsets. The score is the greatest of the
    matched terms' kinds (0 without a match) and, with ``classifier``, the linear model's (the extra ``text``); with a
    ``backend``, which is a service, its greatest score, and ``kinds`` holds all of them.
    Raises: ConfigError for ``classifier`` with a ``backend``.
    """

    backend: ToxicityService | None = None
    classifier: bool = False
    spec: ClassVar[ToolSpec] = spec_of("ToxicityDetector")

    def __post_init__(self) -> None:
        if self.classifier and self.backend is not None:
            raise ConfigError("ToxicityDetector: backend and classifier are both set; set only one of them")

    @property
    def missing(self) -> str:
        """What the service or the linear model needs first."""
        what = f"{self.spec.name} with classifier: true"
        return missing_extra(what, "profanity_check", "text") if self.classifier else super().missing

    async def answer(self, text: str) -> Observation:
        """Judge a text. Raises ToolError."""
        matched = matches(text)
        kinds = {} if self.backend is None else {"kinds": dict(await self.backend.score(text))}
        scores = [0.0, *(lexicon().scores[one["kind"]] for one in matched)]
        scores += [await asyncio.to_thread(_model_score, text)] if self.classifier else []
        score = max(scores if self.backend is None else kinds["kinds"].values())
        judged = {"score": round(score, 3), **kinds, "matched": matched}
        return Observation(orjson.dumps(judged).decode(), judged)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The shipped words."""
    words = read_yaml(DATA / "toxicity.yaml")
    kinds = words["kinds"]
    return Lexicon(
        {kind: float(entry["score"]) for kind, entry in kinds.items()},
        {kind: _any_of(entry["terms"]) for kind, entry in kinds.items()},
        _any_of(words["neutral"]),
    )


def matches(text: str) -> list[dict[str, Any]]:
    """The lexicon's terms in a text, in its order: term, kind, start and end (exclusive)."""
    plain = text.replace("’", "'")
    terms = [
        {"term": text[match.start() : match.end()], "kind": kind, "start": match.start(), "end": match.end()}
        for kind, pattern in lexicon().terms.items()
        for match in pattern.finditer(plain)
    ]
    return sorted(terms, key=lambda one: (one["start"], one["end"], one["kind"]))


def _model_score(text: str) -> float:
    """The linear model's probability of abuse of the text's worst sentence, without neutral words, in 0-1."""
    with LOADING:
        from profanity_check import predict_prob  # type: ignore[import-untyped]  # it ships no types
    return float(max(predict_prob(_SENTENCE.split(lexicon().neutral.sub(" ", text)))))


def _any_of(terms: list[str]) -> re.Pattern[str]:
    """Any of the terms as whole words, the longest first, in any case and with any white space."""
    ordered = sorted((r"\s+".join(map(re.escape, term.split())) for term in terms), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(ordered)})(?!\w)", re.IGNORECASE)
