"""The first difference between a call that a strict replay needs and what the journal holds."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson

from runner.storage.journal import Journal

_SHOWN = 60
_DIGEST = 16  # hexadecimal digits of a message's digest; journals of earlier versions have 32
_FIELDS = ("model", "purpose", "role", "sampling", "tools")


def explain_miss(journal: Journal, wanted: Mapping[str, Any], sources: Sequence[str | None]) -> str:
    """One line that names the first difference between ``wanted`` (an entry's head) and the journal. ``sources``: the
    prompt files of its messages. Reads the journal once, at the first call, and remembers where each call was."""
    sample, epoch, branch, n = wanted["at"]
    place = f"sample {sample!r}, epoch {epoch}, branch {branch!r}, call {n} ({wanted['purpose']})"
    if not (branches := _branches(journal)):
        state = "is empty" if journal.folder.is_dir() else "does not exist"
        return f"{place}: the journal folder {str(journal.folder)!r} {state}"
    if (calls := branches.get((sample, epoch, branch))) is None:  # what is recorded other than this branch
        epochs = sorted({epoch_ for id_, epoch_, _ in branches if id_ == sample})
        names = sorted(name for id_, epoch_, name in branches if (id_, epoch_) == (sample, epoch))
        if names:
            return f"{place}: no call was recorded in this branch; recorded are {', '.join(map(repr, names))}"
        if epochs:
            return f"{place}: no call was recorded in this epoch; recorded are {', '.join(map(str, epochs))}"
        n_others = len({id_ for id_, _, _ in branches})
        return f"{place}: no call was recorded for this sample; the journal has {n_others} others"
    if n not in calls:
        last = max((m for m in calls if m < n), default=min(calls))
        where = f"the {'last' if last < n else 'first'} recorded one there is call {last} ({calls[last][-1][1]})"
        return f"{place}: no call was recorded at this place; {where}"
    heads = [orjson.loads(payload) for key, _ in calls[n] if (payload := journal.get(key)) is not None]
    nearest = max(heads, key=lambda head: _agreement(head, wanted), default=None)
    return f"{place}: {_difference(nearest, wanted, sources) if nearest else 'its entry in the journal is damaged'}"


@lru_cache(maxsize=1)
def _branches(journal: Journal) -> dict[tuple[str, int, str], dict[int, list[tuple[bytes, str]]]]:
    """(sample, epoch, branch) -> number of a call -> keys and purposes of its entries; those of tools have no place."""
    branches: dict[tuple[str, int, str], dict[int, list[tuple[bytes, str]]]] = {}
    for key, payload in journal.entries():
        head = orjson.loads(payload)
        if "at" in head:
            sample, epoch, branch, n = head["at"]
            calls = branches.setdefault((sample, epoch, branch), {})
            calls.setdefault(n, []).append((key, head["purpose"]))
    return branches


def _agreement(head: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[int, int]:
    """How many fields, then how many messages agree."""
    fields = next((i for i, name in enumerate(_FIELDS) if head[name] != wanted[name]), len(_FIELDS))
    return fields, n_common([digest[:_DIGEST] for digest in head["digests"]], wanted["digests"])


def n_common(one: Sequence[str | bytes], other: Sequence[str | bytes]) -> int:
    """How many of their first items are the same."""
    n = min(len(one), len(other))
    if one[:n] == other[:n]:
        return n
    return next(n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)


def _difference(head: Mapping[str, Any], wanted: Mapping[str, Any], sources: Sequence[str | None]) -> str:
    """The first difference in the order of ``_FIELDS``, then message by message."""
    fields, n = _agreement(head, wanted)
    if fields < len(_FIELDS):
        name = _FIELDS[fields]
        if name == "tools":
            return "the tools differ: other tools are offered, or their descriptions differ"
        found, request = str(head[name]), str(wanted[name])
        if max(len(found), len(request)) > 2 * _SHOWN:  # long ones are cut around their first difference
            start = max(n_common(found, request) - _SHOWN // 3, 0)
            found, request = (("..." if start else "") + text[start : start + _SHOWN] for text in (found, request))
        return f"the {name} differs: journal has {found!r}, this run asks {request!r}"
    n_recorded, n_wanted = len(head["digests"]), len(wanted["digests"])
    if n == n_recorded == n_wanted:
        return "the same request is in the journal under another key: the run's seed or the occurrence differs"
    if n == n_wanted:
        return f"this run sends {n_wanted} messages, the journal's call has {n_recorded}"
    change = "differs from the journal" if n < n_recorded else f"is new, the journal's call has {n_recorded} messages"
    source = sources[n]
    origin = f"comes from prompt {source!r}" if source else "comes from no prompt file: a reply or an observation"
    return f"message {n} {change}; it {origin}"
