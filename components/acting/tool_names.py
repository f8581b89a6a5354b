"""The names of tools: in a config, and across tasks.

RadABench numbers its tools for every sample, so what is learnt about tools is kept under their category there. Use is
counted over the committed actions of many episodes (Liao et al. 2024, arXiv 2410.17657, figure 5). Departures, where
the article is silent: malformed and unknown actions are counted apart, uncommitted proposals and trials are not.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from components.core.errors import ConfigError
from components.core.messages import ToolSpec
from components.core.task_text import INNER, Chain
from components.core.tools import Offer, Tool
from components.text.words import meant

MIXED = "trust"  # a dimension whose tasks overlap those of the others: no kind of tool is theirs alone


def category_of(tool: Tool) -> str | None:
    """The category of a tool whose card has one."""
    return tool.spec.facts.get("category")


def known_names(tools: Mapping[str, Tool], offer: Offer) -> list[str]:
    """What tools of an offer can be named by: names, those that this sample is not offered (a toolset with such names
    all of its own in the fact ``toolset``), and categories."""
    absent = [name for name in offer.facts.get("toolset", ()) if name not in offer.tools]
    return list(dict.fromkeys([*tools, *absent, *filter(None, map(category_of, tools.values()))]))


def resolve_names(names: Sequence[str], known: Sequence[str], what: str) -> list[str]:
    """Known names for names in whatever case. Raises ConfigError, beginning with ``what``, for any other."""
    spelled = {name.casefold(): name for name in reversed(known)} | {name: name for name in known}
    found = {name: spelled.get(name, spelled.get(name.casefold())) for name in names}
    if unknown := [name for name, one in found.items() if one is None]:
        have = f"{meant(unknown[0], known)}there are {', '.join(known) or 'none'}"
        raise ConfigError(f"{what}: there is no tool {unknown[0]!r}; {have}")
    return list(dict.fromkeys(filter(None, found.values())))


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


@dataclass(frozen=True)
class Distribution:
    """``height``: tool actions among all actions, ``segments`` and ``shares``: those of each tool that was used
    among all actions and among tool actions, all 0 to 1. ``n_ignored`` are malformed or unknown actions."""

    total_actions: int
    height: float
    segments: Mapping[str, float]
    shares: Mapping[str, float]
    n_ignored: int

    @property
    def malformed_rate(self) -> float:
        """Malformed and unknown actions among all that were attempted."""
        return self.n_ignored / max(1, self.n_ignored + self.total_actions)


def distribution(trajectories: Iterable[Iterable[str]], tools: Collection[str]) -> Distribution:
    """Pool the names of actions; a name that is neither an inner action nor among the tools is ignored."""
    counts = Counter[str]()
    for names in trajectories:
        counts.update(names)
    used = {name: counts[name] for name in tools if counts[name] and name not in INNER}
    n_tools = sum(used.values())
    total = n_tools + sum(counts[name] for name in INNER)
    return Distribution(
        total,
        n_tools / max(1, total),
        {name: count / total for name, count in used.items()},
        {name: count / n_tools for name, count in used.items()},
        counts.total() - total,
    )
