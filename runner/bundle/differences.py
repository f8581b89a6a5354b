"""The first difference between two runs of the same samples: sample and call named. Times always differ."""

from collections.abc import Mapping, Sequence
from typing import Any

from runner.storage.schema import Record

_TIMES = ("seconds", "started")
_FIELDS = (
    ("asked", "what was asked"), ("reply", "the reply"), ("action", "what was read from the reply"),
    ("verdict", "the verdict"), ("observed", "what was observed"), ("tried", "what was tried"),
)  # fmt: skip
_MAX_SHOWN = 80

JSON = Mapping[str, Any]


def first_difference(was: Sequence[Record], now: Sequence[Record], renamed: Mapping[str, str] | None = None) -> str:
    """One line, empty where the records are the same. ``renamed``: present name of a prompt set -> name at the time."""
    before, after = _by_place(was), _by_place(now)
    if missing := sorted(before.keys() ^ after.keys()):
        when = "was run, and is not now" if missing[0] in before else "was not run, and is now"
        return f"{_place(missing[0])} {when}"
    for place in sorted(before):
        if difference := _difference(_timeless(before[place], {}), _timeless(after[place], renamed or {})):
            return f"{_place(place)}{difference}"
    return ""


def metrics_difference(was: JSON, now: JSON) -> str:
    """The first metric that differs, empty where none does; those of time are left out."""
    before, after = was.get("metrics") or {}, now.get("metrics") or {}
    for name in dict.fromkeys((*before, *after)):
        if not name.startswith("time/") and before.get(name) != after.get(name):
            return f"metric {name} was {_short(before.get(name))}, is {_short(after.get(name))}"
    strata = was.get("strata"), now.get("strata")
    return "" if strata[0] == strata[1] else f"the metrics by strata differ: {_apart('strata', *strata)}"


def _by_place(records: Sequence[Record]) -> dict[tuple[str, str], JSON]:
    return {(str(record["sample_id"]), str(record["epoch"])): record for record in records}


def _place(place: tuple[str, str]) -> str:
    return f"sample {place[0]!r}, epoch {place[1]}"


def _timeless(value: Any, renamed: Mapping[str, str]) -> Any:
    """The value without times, with the earlier names of prompts in sources."""
    if isinstance(value, list):
        return [_timeless(one, renamed) for one in value]
    if not isinstance(value, Mapping):
        return value
    out = {key: _timeless(one, renamed) for key, one in value.items() if key not in _TIMES}
    if renamed and isinstance(source := out.get("source"), str):
        name, _, file = source.rpartition("/")
        out["source"] = f"{renamed.get(name, name)}/{file}"
    return out


def _difference(was: JSON, now: JSON) -> str:
    """What differs in a sample: the first call that does, else what came of it."""
    for old, new in zip(was.get("steps", ()), now.get("steps", ()), strict=False):
        if old != new:
            return f", {_call(old)}: {_in_call(old, new)}"
    steps = len(was.get("steps", ())), len(now.get("steps", ()))
    if steps[0] != steps[1]:
        step = (was if steps[0] > steps[1] else now)["steps"][min(steps)]
        return f", {_call(step)}: there were {steps[0]} calls, there are {steps[1]}"
    for key in dict.fromkeys((*was, *now)):
        if key != "steps" and was.get(key) != now.get(key):
            return f": {_apart(key, was.get(key), now.get(key))}; its {steps[0]} calls are the same"
    return ""


def _call(step: JSON) -> str:
    return f"branch {step.get('branch')!r}, call {step.get('n')} ({step.get('purpose')})"


def _in_call(old: JSON, new: JSON) -> str:
    for key, called in _FIELDS:
        if old.get(key) != new.get(key):
            return f"{called} differs: {_apart(key, old.get(key), new.get(key))}"
    key = next(key for key in (*old, *new) if old.get(key) != new.get(key))
    return _apart(key, old.get(key), new.get(key))


def _apart(key: str, was: Any, now: Any) -> str:
    """The innermost thing that differs."""
    while True:
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            step = next(name for name in (*was, *now) if was.get(name) != now.get(name))
            key, was, now = f"{key} {step}", was.get(step), now.get(step)
        elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
            number = next(n for n, (a, b) in enumerate(zip(was, now, strict=True)) if a != b)
            key, was, now = f"{key} {number}", was[number], now[number]
        else:
            return f"{key} was {_short(was)}, is {_short(now)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
