"""Reading a planning reply: the variables that it claims to be known, and its chain of tools.

Source: Zheng et al. 2024, arXiv 2412.09529, and its code (MAGIC-AI4Med/RadABench, January 2025). ``tolerant`` is ours:
the code loses plans over several lines, plans as JSON, and two of the tool names that its own prompt prescribes.
A planner that hands its plan to an executor writes an object with the keys of ``PLAN_FIELDS``, which as printed in the
article is not JSON: each key is looked for by its name, and its value read up to the next.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from components.radiology.switches import Switches
from components.radiology.tasks import BQ, IE, PLANNING_NAMES, VARIABLES, var

KnownInfo = Literal["baseline_bare", "three_dollar", "all_dollar"]

_THREE = ("Anatomy", "Disease", "Modality")
_CLAIMABLE = sorted({*VARIABLES} - {"Image", "Information", "OrganMask", "AnomalyMask"})
_UNTYPED: Mapping[str, str] = {
    **{name: category for name, (category, _) in PLANNING_NAMES.items()},
    "Biomarker Quantification Tool": BQ,
    "Indicator Evaluator Tool": IE,
}
# The names that the reference's log reader knows; of the organ quantifier it keeps the type.
_CODE_NAMES = {
    name: category
    for name, category in _UNTYPED.items()
    if name not in ("Anomaly Biomarker Quantification Tool", "Indicator Evaluation Tool")
} | {"Organ Biomarker Quantification Tool": "Organ Biomarker Quantifier"}
_STARRED = re.compile(r"\*(.*?)\*")
_CHAIN = re.compile(r"Tool Chain[\"']?\s*:(?:\s*\[([^\]]*)|([^\n]*))")
_NAME = re.compile("|".join(re.escape(name) for name in sorted(_UNTYPED, key=len, reverse=True)))
PLAN_FIELDS = ("Task Summary", "Known Info", "Self-Reflection", "Tool Chain")
# A key begins the text or a line, or follows a brace or comma; each run of quotes and spaces is read once.
_BEGINS = r"""(?:\A|(?<=[{,])|(?<![\s"'*{,])(?=(?:[^\S\n]|["'*])*\n))"""
_FIELD = re.compile(_BEGINS + rf"""[\s"'*]*+({"|".join(PLAN_FIELDS)})[\s"'*]*+:""", re.IGNORECASE)
_AROUND = " \t\r\n\"'`,{}"
_NEVER = ("$Report$", "$Treatment$")


def known_mode(switches: Switches, condition: str) -> KnownInfo:
    """How claims are read under this condition."""
    if switches.known_info == "per_condition":
        return "baseline_bare" if condition == "baseline" else "three_dollar"
    return switches.known_info


def read_known(text: str, mode: KnownInfo) -> list[str]:
    """The variables that a planning reply makes known, with dollar signs, by name. ``three_dollar``: $Anatomy$,
    $Modality$, $Disease$ anywhere in it; ``all_dollar``: all 13 claimable ones written so; ``baseline_bare``: the bare
    words, which the names of planned tools contain."""
    if mode == "baseline_bare":
        return [var(name) for name in _CLAIMABLE if name in text]
    return [var(name) for name in (_THREE if mode == "three_dollar" else _CLAIMABLE) if var(name) in text]


def runtime_plan(text: str) -> list[str]:
    """The planning names anywhere in the reply, in canonical order."""
    return [name for name in PLANNING_NAMES if name in text]


def decision_chain(text: str, reader: Literal["code_line", "tolerant"]) -> list[str]:
    """The planned chain of categories, empty where there is none to read. ``code_line``: one line, names between
    asterisks, of which the reference drops two and types one; ``tolerant``: any number of lines, plain or JSON, all
    names, untyped."""
    if reader == "tolerant":
        return [_UNTYPED[name] for name in chain_names(text)]
    for line in text.split("\n"):
        inside, closed, _ = line.partition("Tool Chain: [")[2].partition("]")
        if closed:
            return [_CODE_NAMES[name] for name in _STARRED.findall(inside) if name in _CODE_NAMES]
    return []


def chain_names(text: str) -> list[str]:
    """The names in the first tool chain, in its order: up to its closing bracket, or to the end of its line."""
    found = _CHAIN.search(text)
    return _NAME.findall(found[2] if found[1] is None else found[1]) if found else []


def plan_text(known: Iterable[str], names: Iterable[str]) -> str:
    """The known variables and the chain of planning names in the two lines that every reader understands."""
    return f"Known Info: [{', '.join(known)}]\nTool Chain: [{' -> '.join(f'*{name}*' for name in names)}]"


class PlanObject(NamedTuple):
    """``known``: claimed variables with dollar signs, by name; ``chain``: planning names in their order."""

    summary: str
    known: tuple[str, ...]
    reflection: str
    chain: tuple[str, ...]

    @property
    def text(self) -> str:
        """The plan in lines; a summary or reflection that is empty is left out."""
        lines = [f"Task Summary: {self.summary}"] if self.summary else []
        lines += [f"Self-Reflection: {self.reflection}"] if self.reflection else []
        return "\n".join([*lines, self.claims])

    @property
    def claims(self) -> str:
        """The known variables and the chain alone: what a reflection mentions is not claimed."""
        return plan_text(self.known, self.chain)


def read_plan(reply: str) -> PlanObject | None:
    """Read a planning reply; None where it has no chain with a name in it. A report, a treatment and masks are never
    known beforehand, whatever is claimed."""
    found, chain = list(_FIELD.finditer(reply)), chain_names(reply)
    if not chain:
        return None
    ends = [*(one.start() for one in found[1:]), len(reply)]  # a key's text ends at the next; of equal keys the first
    parts = {one[1].lower(): reply[one.end() : end] for one, end in reversed([*zip(found, ends, strict=False)])}
    known = [name for name in read_known(parts.get("known info", ""), "all_dollar") if name not in _NEVER]
    summary, reflection = (
        " ".join(parts.get(key, "").strip(_AROUND).split()) for key in ("task summary", "self-reflection")
    )
    return PlanObject(summary, tuple(known), reflection, tuple(chain))
