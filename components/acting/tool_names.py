"""What tools are known as: to whoever names them in a config, and from one task to the next.

RadABench numbers its tools for every sample: TOOL3 is another tool in the next task. What is learnt about tools is
kept under their category there, and under their name everywhere else.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from components.core.errors import ConfigError
from components.core.messages import ToolSpec
from components.core.task_text import Chain
from components.core.tools import Offer, Tool
from components.text.words import meant


def category_of(tool: Tool) -> str | None:
    """The category of a tool whose card has one."""
    return tool.spec.facts.get("category")


def known_names(tools: Mapping[str, Tool], offer: Offer) -> list[str]:
    """What tools of an offer can be named by: names, those that this sample is not offered (a toolset with such names
    all of its own in the fact ``toolset``), and categories."""
    absent = [name for name in offer.facts.get("toolset", ()) if name not in offer.tools]
    return list(dict.fromkeys([*tools, *absent, *filter(None, map(category_of, tools.values()))]))


def named(asked: Sequence[str], known: Sequence[str], what: str) -> list[str]:
    """Known names for names in whatever case. Raises ConfigError, beginning with ``what``, for any other."""
    spelled = {name.casefold(): name for name in reversed(known)} | {name: name for name in known}
    if unknown := [name for name in asked if name not in spelled and name.casefold() not in spelled]:
        have = f"{meant(unknown[0], known)}there are {', '.join(known) or 'none'}"
        raise ConfigError(f"{what}: there is no tool {unknown[0]!r}; {have}")
    return list(dict.fromkeys(spelled.get(name) or spelled[name.casefold()] for name in asked))


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
