"""Reading a planning reply: what it claims to be known, and its chain of tools.

Source: Zheng et al. 2024, arXiv 2412.09529, and the readers of the reference implementation
(MAGIC-AI4Med/RadABench, January 2025). ``tolerant`` is ours: the reference loses plans over several
lines, plans as JSON, and two of the tool names that its own prompt prescribes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from components.radiology.switches import Switches
from components.radiology.tasks import BQ, IE, PLANNING_NAMES, var

KnownInfo = Literal["baseline_bare", "three_dollar", "all_dollar"]

_THREE = ("Anatomy", "Disease", "Modality")
_CLAIMABLE = (
    "Anatomy", "AnomalyDim", "AnomalyObject", "AnomalyQuant", "Disease", "IndicatorName", "IndicatorValue",
    "Modality", "OrganDim", "OrganObject", "OrganQuant", "Report", "Treatment",
)  # fmt: skip
_UNTYPED: Mapping[str, str] = {
    **{name: category for name, (category, _) in PLANNING_NAMES.items()},
    "Biomarker Quantification Tool": BQ,
    "Indicator Evaluator Tool": IE,
}
_CODE_NAMES: Mapping[str, str] = {
    **{name: category for name, category in _UNTYPED.items() if category not in (BQ, IE)},
    "Organ Biomarker Quantification Tool": "Organ Biomarker Quantifier",
    "Biomarker Quantification Tool": BQ,
    "Indicator Evaluator Tool": IE,
}
_STARRED = re.compile(r"\*(.*?)\*")
_CHAIN = re.compile(r"Tool Chain[\"']?\s*:(?:\s*\[([^\]]*)|([^\n]*))")
_NAME = re.compile("|".join(re.escape(name) for name in sorted(_UNTYPED, key=len, reverse=True)))


def is_code_baseline(switches: Switches, condition: str) -> bool:
    """Whether the rules of the reference's separate pipeline for condition baseline apply."""
    return switches.known_info == "per_condition" and condition == "baseline"


def known_mode(switches: Switches, condition: str) -> KnownInfo:
    """How claims are read under this condition."""
    if switches.known_info == "per_condition":
        return "baseline_bare" if condition == "baseline" else "three_dollar"
    return switches.known_info


def read_known(text: str, mode: KnownInfo) -> list[str]:
    """The variables that a planning reply makes known, with dollar signs, by name.

    ``three_dollar``: $Anatomy$, $Modality$, $Disease$ anywhere in it; ``all_dollar``: all 13 claimable
    ones written so; ``baseline_bare``: the bare words, which the names of planned tools contain.
    """
    if mode == "baseline_bare":
        return [var(name) for name in _CLAIMABLE if name in text]
    return [var(name) for name in (_THREE if mode == "three_dollar" else _CLAIMABLE) if var(name) in text]


def runtime_plan(text: str) -> list[str]:
    """The planning names anywhere in the reply, in canonical order."""
    return [name for name in PLANNING_NAMES if name in text]


def decision_chain(text: str, reader: Literal["code_line", "tolerant"]) -> list[str]:
    """The planned chain of categories, empty where there is none to read.

    ``code_line``: one line, names between asterisks, of which the reference drops two and types one;
    ``tolerant``: any number of lines, plain or JSON, all names, untyped.
    """
    if reader == "code_line":
        return _code_line(text)
    return [_UNTYPED[name] for name in chain_names(text)]


def chain_names(text: str) -> list[str]:
    """The names in the first tool chain, in its order: up to its closing bracket, or to the end of its line."""
    found = _CHAIN.search(text)
    return _NAME.findall((found[1] if found[1] is not None else found[2]) if found else "")


def _code_line(text: str) -> list[str]:
    """The chain as the reference's log reader sees it."""
    for line in text.split("\n"):
        inside, closed, _ = line.partition("Tool Chain: [")[2].partition("]")
        if closed:
            return [_CODE_NAMES[name] for name in _STARRED.findall(inside) if name in _CODE_NAMES]
    return []
