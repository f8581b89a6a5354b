"""The tools on trust, which work without a network: what identifies a patient in a text, and how abusive a text is.

Source: items 16 and 17 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657. For privacy it calls a commercial
service and puts made-up values in; here rules for clinical notes, or Presidio (Microsoft, MIT) with these rules, and
the kind of what was removed takes its place. For toxicity it asks the Perspective service; here the project's lexicon,
and on request a linear model over character and word counts (alt-profanity-check, trained on web comments); words of
medicine and identity, which such models mistake for abuse (Dixon et al. 2018, doi 10.1145/3278721.3278729), are hidden
from that model.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

import orjson
import regex  # type: ignore[import-untyped]  # it ships no types
from annotated_types import MinLen

from components.acting.arguments import LOADING, missing_model
from components.core.errors import ConfigError, missing_extra
from components.core.messages import ToolSpec
from components.core.types import Observation
from components.text.structured import read_yaml
from components.tools.backends import DATA, Backend, LookupTool, TextTool, spec_of

_THRESHOLD = 0.4  # the least score of a finding


class Finding(NamedTuple):
    """``kind`` at characters ``start`` to ``end`` (exclusive); ``score`` in 0-1 is the recogniser's trust in it."""

    kind: str
    start: int
    end: int
    score: float


class Rule(NamedTuple):
    """A regular expression for a kind of identifier; ``cased``: whether the case of letters counts."""

    kind: str
    pattern: str
    score: float
    cased: bool


@dataclass(frozen=True)
class PrivacyDetector(TextTool):
    """Identifiers of a person in a text.

    Output: JSON with ``text``, where ``<KIND>`` stands for each identifier, and ``findings`` with offsets into the
    text that was given. ``engine``: the rules alone, or presidio (the extra ``text``), which checks domains and digits
    too; with it, ``model`` is an installed spaCy pipeline that finds further names, by its package.
    Limits: without a model, names are found after titles and labels (and wherever they are repeated) only.
    Raises: ConfigError for ``model`` without presidio.
    """

    engine: Literal["rules", "presidio"] = "rules"
    model: Annotated[str, MinLen(1)] | None = None
    spec: ClassVar[ToolSpec] = spec_of("PrivacyDetector")

    def __post_init__(self) -> None:
        if self.engine == "rules" and self.model is not None:
            raise ConfigError("PrivacyDetector: model needs engine: presidio; found engine: rules")

    @property
    def missing(self) -> str:
        """What must be installed first."""
        if self.engine == "rules":
            return ""
        return missing_extra(self.spec.name, "presidio_analyzer", "text") or missing_model(self.spec.name, self.model)

    async def answer(self, text: str) -> Observation:
        """Remove what identifies a person. Raises ToolError."""
        findings = await asyncio.to_thread(self._find, text)
        listed = [one._asdict() for one in findings]
        data = {"text": redacted(text, findings), "findings": listed}
        return Observation(orjson.dumps(data).decode(), {"findings": listed})

    def _find(self, text: str) -> list[Finding]:
        """The findings in the order of the text, none overlapping."""
        if self.engine == "rules":
            findings = find(text, _THRESHOLD)
        else:
            with LOADING:
                from components.tools.privacy_presidio import analyze, engine

                analyzer = engine(self.model, rules("notes"))
            findings = [Finding(*one) for one in analyze(analyzer, text, _THRESHOLD)]
        return joined([*findings, *_repeated(text, findings)])


@lru_cache(maxsize=2)
def rules(group: Literal["notes", "general"]) -> tuple[Rule, ...]:
    """The shipped rules: for clinical notes, or for identifiers of any text."""
    tables = read_yaml(DATA / "privacy_rules.yaml")
    parts: dict[str, str] = {}

    def whole(pattern: str) -> str:
        return re.sub(r"~(\w+)~", lambda match: parts[match[1]], pattern)

    for name, pattern in tables["parts"].items():
        parts[name] = whole(pattern)
    return tuple(
        Rule(kind, whole(one["pattern"]), one["score"], one["cased"])
        for kind, ones in tables[group].items()
        for one in ones
    )


def find(text: str, threshold: float) -> list[Finding]:
    """What the rules with at least this score find, whose lookbehinds may have any length; findings may overlap."""
    return [
        Finding(rule.kind, match.start(), match.end(), rule.score)
        for rule in (*rules("notes"), *rules("general"))
        if rule.score >= threshold
        for match in regex.finditer(rule.pattern, text, regex.MULTILINE | (0 if rule.cased else regex.IGNORECASE))
    ]


def joined(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that overlap made one, of the kind with the best score (the longer one, where scores are equal)."""
    out: list[Finding] = []
    for one in sorted(findings, key=lambda f: (f.start, -f.end, -f.score, f.kind)):
        if not out or one.start >= out[-1].end:
            out.append(one)
            continue
        last = out[-1]
        best = max((last, one), key=lambda f: (f.score, f.end - f.start))
        out[-1] = best._replace(start=last.start, end=max(last.end, one.end))
    return out


def redacted(text: str, findings: Sequence[Finding]) -> str:
    """The text with ``<KIND>`` in place of each finding."""
    parts, position = [], 0
    for one in findings:
        parts += [text[position : one.start], f"<{one.kind}>"]
        position = one.end
    return "".join([*parts, text[position:]])


def _repeated(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """The parts of a person's name wherever else they stand in the text, written the same way."""
    names = {
        part: one.score
        for one in findings
        if one.kind == "PERSON"
        for part in re.findall(r"[^\W\d_][\w'’-]{2,}", text[one.start : one.end])
        if part[0].isupper()
    }
    return [
        Finding("PERSON", match.start(), match.end(), score)
        for part, score in names.items()
        for match in re.finditer(rf"(?<!\w){re.escape(part)}(?!\w)", text)
    ]


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
