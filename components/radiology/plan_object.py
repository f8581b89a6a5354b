"""A plan that is written as an object, as a planner hands it to an executor: read whatever form it comes in.

Source: Zheng et al. 2024, arXiv 2412.09529, whose planner writes one fenced object with the keys ``Task Summary``,
``Known Info``, ``Self-Reflection`` and ``Tool Chain``. As printed there it is no JSON: its chain is a list of bare
names with arrows, some keys have no quotes. So each key is looked for by its name, and its value read up to the next.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from components.radiology.plan import chain_names, read_known

KEYS = ("Task Summary", "Known Info", "Self-Reflection", "Tool Chain")
# A key begins the text or a line, or follows a brace or comma; each run of quotes and spaces is read once.
_BEGINS = r"""(?:\A|(?<=[{,])|(?<![\s"'*{,])(?=(?:[^\S\n]|["'*])*\n))"""
_KEY = re.compile(_BEGINS + rf"""[\s"'*]*+({"|".join(KEYS)})[\s"'*]*+:""", re.IGNORECASE)
_AROUND = " \t\r\n\"'`,{}"
_NEVER = ("$Report$", "$Treatment$", "$OrganMask$", "$AnomalyMask$")


@dataclass(frozen=True)
class PlanObject:
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
        """What is known and the chain alone: what a reflection mentions is not claimed."""
        return f"Known Info: [{', '.join(self.known)}]\nTool Chain: [{' -> '.join(f'*{name}*' for name in self.chain)}]"


def read_plan(reply: str) -> PlanObject | None:
    """Read a planning reply; None where it has no chain with a name in it.

    A report, a treatment and masks are never known beforehand, whatever is claimed.
    """
    parts, chain = _parts(reply), chain_names(reply)
    if not chain:
        return None
    known = [name for name in read_known(parts.get("known info", ""), "all_dollar") if name not in _NEVER]
    told = (" ".join(parts.get(key, "").strip(_AROUND).split()) for key in ("task summary", "self-reflection"))
    summary, reflection = told
    return PlanObject(summary, tuple(known), reflection, tuple(chain))


def _parts(reply: str) -> dict[str, str]:
    """Key in lower case -> what stands behind it up to the next key; of a key that comes twice the first."""
    found = list(_KEY.finditer(reply))
    parts: dict[str, str] = {}
    for one, after in zip(found, [*found[1:], None], strict=False):
        parts.setdefault(one[1].lower(), reply[one.end() : after.start() if after else None])
    return parts
