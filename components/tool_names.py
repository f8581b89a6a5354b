"""What a tool is known as from one task to the next, where its name is drawn anew for each.

RadABench numbers its tools for every sample: TOOL3 is another tool in the next task. What is learnt about tools is
kept under their category there, and under their name everywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from components.messages import ToolSpec
from components.task_text import Chain


def lasting_names(specs: Iterable[ToolSpec]) -> Mapping[str, str]:
    """Name in this task -> what the tool is known as."""
    return {spec.name: str(spec.facts.get("category") or spec.name) for spec in specs}


def to_lasting(chain: Chain, names: Mapping[str, str]) -> Chain:
    """A chain with its actions under lasting names."""
    return [(_renamed(did, names), saw) for did, saw in chain]


def to_local(text: str, names: Mapping[str, str]) -> str:
    """A solution's actions under the names of this task; of several tools of a kind the first."""
    local: dict[str, str] = {}
    for name, lasting in names.items():
        local.setdefault(lasting, name)
    return "\n".join(_renamed(line, local) if line.startswith("Action: ") else line for line in text.split("\n"))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    changed = [name for name, other in names.items() if name != other]
    if not changed:
        return text
    pattern = "|".join(re.escape(name) for name in sorted(changed, key=len, reverse=True))
    return re.sub(rf"(?<!\w)({pattern})(?=\[)", lambda found: names[found[1]], text)
