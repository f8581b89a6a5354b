"""Naming the first difference between a call that strict replay wants and what the journal holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson

from runner.storage.journal import Journal

_SHOWN = 60
_FIELDS = ("model", "purpose", "role", "sampling", "tools")


@dataclass
class _Branch:
    """What was recorded in one (sample, epoch, branch): number of the call -> its keys, and its purpose."""

    keys: dict[int, list[bytes]] = field(default_factory=dict)
    purposes: dict[int, str] = field(default_factory=dict)


def explain_miss(journal: Journal, wanted: Mapping[str, Any]) -> str:
    """One line that names the first difference between ``wanted`` (an entry's head) and the journal.

    Reads the journal once, at the first call, and keeps where each call was recorded.
    """
    sample, epoch, branch, n = wanted["at"]
    place = f"sample {sample!r}, epoch {epoch}, branch {branch!r}, call {n} ({wanted['purpose']})"
    branches = _branches(journal)
    if not branches:
        state = "is empty" if journal.folder.is_dir() else "does not exist"
        return f"{place}: the journal folder {str(journal.folder)!r} {state}"
    if (sample, epoch, branch) not in branches:
        return f"{place}: {_nearest(branches, sample, epoch)}"
    recorded = branches[sample, epoch, branch]
    if n not in recorded.keys:
        last = max((m for m in recorded.keys if m < n), default=min(recorded.keys))
        side = "last" if last < n else "first"
        where = f"the {side} recorded one there is call {last} ({recorded.purposes[last]})"
        return f"{place}: no call was recorded at this place; {where}"
    heads = [orjson.loads(payload) for key in recorded.keys[n] if (payload := journal.get(key)) is not None]
    nearest = max(heads, key=lambda head: _agreement(head, wanted), default=None)
    return f"{place}: {_difference(nearest, wanted) if nearest else 'its entry in the journal is damaged'}"


@lru_cache(maxsize=1)
def _branches(journal: Journal) -> dict[tuple[str, int, str], _Branch]:
    """Where each model call was recorded; the entries of tools have no place."""
    found: dict[tuple[str, int, str], _Branch] = {}
    for key, payload in journal.entries():
        head = orjson.loads(payload)
        if "at" in head:
            sample, epoch, branch, n = head["at"]
            recorded = found.setdefault((sample, epoch, branch), _Branch())
            recorded.keys.setdefault(n, []).append(key)
            recorded.purposes[n] = head["purpose"]
    return found


def _nearest(branches: Mapping[tuple[str, int, str], _Branch], sample: str, epoch: int) -> str:
    """What is recorded for the sample if not this branch."""
    there = sorted({name for id_, epoch_, name in branches if (id_, epoch_) == (sample, epoch)})
    if there:
        return f"no call was recorded in this branch; recorded are {', '.join(map(repr, there))}"
    epochs = sorted({epoch_ for id_, epoch_, _ in branches if id_ == sample})
    if epochs:
        return f"no call was recorded in this epoch; recorded are {', '.join(map(str, epochs))}"
    return f"no call was recorded for this sample; the journal has {len({id_ for id_, _, _ in branches})} others"


def _agreement(head: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[int, int]:
    """How far two heads agree: fields, then messages."""
    fields = next((i for i, name in enumerate(_FIELDS) if head[name] != wanted[name]), len(_FIELDS))
    return fields, len(list(_common(head["digests"], wanted["digests"])))


def _common(one: Sequence[str], other: Sequence[str]) -> Iterator[str]:
    """What both start with."""
    for a, b in zip(one, other, strict=False):
        if a != b:
            return
        yield a


def _difference(head: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The first difference in the order of ``_FIELDS``, then message by message."""
    for name in _FIELDS:
        if head[name] != wanted[name]:
            if name == "tools":
                return "the tools differ: other tools are offered, or they are described in other words"
            found, asked = _apart(str(head[name]), str(wanted[name]))
            return f"the {name} differs: journal has {found!r}, this run asks {asked!r}"
    n, recorded, asked_n = _agreement(head, wanted)[1], len(head["digests"]), len(wanted["digests"])
    if n == recorded == asked_n:
        return "the same request is in the journal under another key: the run's seed or the occurrence differs"
    if n == asked_n:
        return f"this run sends {asked_n} messages, the journal's call has {recorded}"
    change = "differs from the journal" if n < recorded else f"is new, the journal's call has {recorded} messages"
    source = wanted["sources"][n]
    origin = f"comes from prompt {source!r}" if source else "comes from no prompt file: a reply or an observation"
    return f"message {n} {change}; it {origin}"


def _apart(one: str, other: str) -> tuple[str, str]:
    """Both texts, long ones cut around where they part."""
    if max(len(one), len(other)) <= 2 * _SHOWN:
        return one, other
    start = max(len(list(_common(one, other))) - _SHOWN // 3, 0)
    left = "..." if start else ""
    return left + one[start : start + _SHOWN], left + other[start : start + _SHOWN]
