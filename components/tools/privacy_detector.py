"""PrivacyDetector: what in a text tells who a patient is, and the text without it; works without a network.

Source: item 17 of ReflecTool's tools, Liao et al. 2024, arXiv 2410.17657, which calls a commercial service and
puts made-up values in; here rules for clinical notes, or Presidio (Microsoft, MIT) with these rules, and the kind of
what was taken out stands in its place.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import orjson
from annotated_types import Interval, MinLen

from components.acting.arguments import LOADING, given_text, missing_model, text_spec
from components.core.errors import ConfigError, ToolError, missing_extra
from components.core.messages import ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import ToolTraits
from components.core.types import Observation
from components.tools.privacy_rules import Finding, find

_SPEC = text_spec(
    "PrivacyDetector",
    "Find what identifies a person in a text (names, dates, addresses, phone and record numbers, e-mail) and"
    " return the text without it, with a list of what was found.",
    "response",
    "The text to check.",
    "trust",
)


_REGIONS = ("US", "GB")


@dataclass(frozen=True)
class PrivacyDetector:
    """Identifiers of a person in a text.

    Output: JSON with ``text``, where ``<KIND>`` stands for each identifier, and ``findings`` with offsets into the
    text that was given. ``threshold`` is the least score of a finding. ``engine``: the rules alone, or presidio (the
    extra ``text``), which checks domains and digits too; with it, ``regions`` are those whose phone numbers are known
    without a country's prefix, and ``model`` is an installed spaCy pipeline that finds further names, by its package.
    Limits: without a model, names are found after titles and labels (and wherever they are repeated) only.
    Raises: ConfigError for ``regions`` or ``model`` without presidio.
    """

    threshold: Annotated[float, Interval(ge=0, le=1)] = 0.4
    engine: Literal["rules", "presidio"] = "rules"
    regions: Sequence[str] = _REGIONS
    model: Annotated[str, MinLen(1)] | None = None
    effect: Effect = "pure"

    def __post_init__(self) -> None:
        if self.engine == "rules" and (self.model is not None or tuple(self.regions) != _REGIONS):
            raise ConfigError("PrivacyDetector: regions and model need engine: presidio; found engine: rules")

    @property
    def spec(self) -> ToolSpec:
        """What the model sees of the tool."""
        return _SPEC

    @property
    def traits(self) -> ToolTraits:
        """What identifies its answers, and what it lacks."""
        return ToolTraits(missing=self.missing)

    @property
    def missing(self) -> str:
        """What must be installed first."""
        if self.engine == "rules":
            return ""
        return missing_extra(_SPEC.name, "presidio_analyzer", "text") or missing_model(_SPEC.name, self.model)

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
        if self.engine == "rules":
            found = find(text, self.threshold)
        else:
            with LOADING:
                from components.tools.privacy_presidio import analyze, engine

                analyzer = engine(self.model, tuple(self.regions))
            found = analyze(analyzer, text, self.threshold)
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
