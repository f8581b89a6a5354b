"""The words of the command line, as Hydra reads them."""

import re
from collections.abc import Collection, Sequence

WITH_VALUE = frozenset(
    ("--cfg", "-c", "--package", "-p", "--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd",
     "--experimental-rerun", "--info", "-i")
)  # fmt: skip
_CHOICE = re.compile(r"(\w+)=(\w+)")
_KEYED, _NO_NODE = ("scorer",), ("experiment",)  # groups whose choices stand under their names, or all over the config
_SETTING = re.compile(r"([+~]*)(\w+)(\..*)", re.DOTALL)


def flags_first(words: Sequence[str]) -> list[str]:
    """The same words with the flags before the overrides: ``limit=9 -m seed=0,1`` is no mistake."""
    flags: list[str] = []
    others: list[str] = []
    for n, word in enumerate(words):
        follows = n > 0 and words[n - 1] in WITH_VALUE
        (flags if word.startswith("-") or follows else others).append(word)
    return [*flags, *others]


def by_group(words: Sequence[str], groups: Collection[str]) -> list[str]:
    """Settings that stand under the name of a choice, put under its group: beside ``condition=withhold``,
    ``withhold.tools=[x]`` is ``condition.tools=[x]``. A choice that is called as one of ``groups`` is left alone, and
    what stands in no group (``name=run``) is no choice."""
    nodes = [group for group in groups if group not in _NO_NODE]
    chosen = [found.groups() for word in words if (found := _CHOICE.fullmatch(word)) and found[1] in nodes]

    def put(word: str) -> str:
        found = _SETTING.fullmatch(word)
        of = [
            f"{group}.{choice}" if group in _KEYED else group
            for group, choice in chosen
            if found and choice == found[2] and choice not in groups
        ]
        return f"{found[1]}{of[0]}{found[3]}" if found and len(of) == 1 else word

    return [put(word) for word in words]
