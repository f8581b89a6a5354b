"""PrivacyDetector: what in a text tells who a patient is, and the text without it; works without a network.

Source: item 17 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657, which calls a commercial service and
puts made-up values in; here Presidio (Microsoft, MIT) with rules for clinical notes, and the kind of what was
taken out stands in its place.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import orjson
from annotated_types import Interval, MinLen

from components.acting.text_arguments import given_text, missing_model, text_spec
from components.core.errors import ToolError
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import ToolTraits
from components.core.types import Observation
from components.tools.loading import LOADING

_SPEC = text_spec(
    "PrivacyDetector",
    "Find what identifies a person in a text (names, dates, addresses, phone and record numbers, e-mail) and"
    " return the text without it, with a list of what was found.",
    "response",
    "The text to check.",
    "trust",
)


@dataclass(frozen=True)
class Finding:
    """``kind`` at characters ``start`` to ``end`` (exclusive); ``score`` in 0-1 is the recogniser's trust in it."""

    kind: str
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class PrivacyDetector:
    """Identifiers of a person in a text.

    Output: JSON with ``text``, where ``<KIND>`` stands for each identifier, and ``findings`` with offsets into the
    text that was given. ``threshold`` is the least score of a finding; ``regions`` whose phone numbers are known
    without a country's prefix; ``model`` an installed spaCy pipeline that finds further names, by its package.
    Limits: without a model, names are found after titles and labels (and wherever they are repeated) only.
    """

    threshold: Annotated[float, Interval(ge=0, le=1)] = 0.4
    regions: Sequence[str] = ("US", "GB")
    model: Annotated[str, MinLen(1)] | None = None
    effect: Effect = "pure"

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
        """What must be installed first."""
        return missing_model(_SPEC.name, self.model)

    async def __call__(self, context: Context, response: Any) -> Observation:
        """Take out what identifies. Raises ToolError."""
        text = given_text(_SPEC, response)
        if self.missing:
            raise ToolError(self.missing, "unavailable")
        findings = await asyncio.to_thread(self._find, text)
        listed = [{"kind": one.kind, "start": one.start, "end": one.end, "score": one.score} for one in findings]
        data = {"text": redacted(text, findings), "findings": listed}
        return Observation(orjson.dumps(data).decode(), {"findings": listed})

    def _find(self, text: str) -> list[Finding]:
        """The findings in the order of the text, none overlapping."""
        with LOADING:
            from components.tools.privacy_rules import KINDS, engine

            analyzer = engine(self.model, tuple(self.regions))
        results = analyzer.analyze(text, "en", score_threshold=self.threshold)
        found = [Finding(KINDS.get(r.entity_type, r.entity_type), r.start, r.end, round(r.score, 2)) for r in results]
        return joined([*found, *_repeated(text, found)])


def joined(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that overlap made one, of the kind with the best score (the longer one, where scores are equal)."""
    out: list[Finding] = []
    for one in sorted(findings, key=lambda f: (f.start, -f.end, -f.score, f.kind)):
        if not out or one.start >= out[-1].end:
            out.append(one)
            continue
        last = out[-1]
        best = max((last, one), key=lambda f: (f.score, f.end - f.start))
        out[-1] = replace(best, start=last.start, end=max(last.end, one.end))
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
