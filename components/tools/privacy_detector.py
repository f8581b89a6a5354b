"""Find identifiers of a patient in a text, without a network.

Source: item 16 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657, which calls a commercial service and puts
made-up values in; here rules for clinical notes, or Presidio (Microsoft, MIT) with these rules, and the kind of what
was removed takes its place.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, Literal, NamedTuple

import orjson
import regex  # type: ignore[import-untyped]  # it ships no types
from annotated_types import MinLen

from components.acting.arguments import LOADING, missing_model
from components.core.errors import ConfigError, missing_extra
from components.core.messages import ToolSpec
from components.core.types import Observation
from components.text.structured import read_yaml
from components.tools.backends import DATA, TextTool, spec_of

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
        data = {"text": redact_findings(text, findings), "findings": listed}
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
        return join_findings([*findings, *_repeated(text, findings)])


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


def join_findings(findings: Iterable[Finding]) -> list[Finding]:
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


def redact_findings(text: str, findings: Sequence[Finding]) -> str:
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
