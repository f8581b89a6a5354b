"""What differs from a bundle: the first difference of two runs (times always differ), and changed prompts with the
calls that used them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from components import prompts
from runner.storage.schema import Record

HOME = Path(prompts.__file__).resolve().parent  # of our prompt sets

_TIMES = ("seconds", "started")
_FIELDS = {
    "asked": "the request", "reply": "the reply", "action": "the parsed reply",
    "verdict": "the verdict", "observed": "the observation", "tried": "the trial",
}  # fmt: skip
_MAX_SHOWN = 80

JSON = Mapping[str, Any]


def first_difference(was: Sequence[Record], now: Sequence[Record], renamed: Mapping[str, str] | None = None) -> str:
    """One line, empty where the records are the same. ``renamed``: present name of a prompt set -> name at the time."""
    before, after = ({(str(one["sample_id"]), str(one["epoch"])): one for one in records} for records in (was, now))
    if missing := sorted(before.keys() ^ after.keys()):
        when = "was run before, but not now" if missing[0] in before else "was not run before, but is now"
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
            key = next(key for key in (*_FIELDS, *old, *new) if old.get(key) != new.get(key))
            called = f"{_FIELDS[key]} differs: " if key in _FIELDS else ""
            return f", {_call(old)}: {called}{_apart(key, old.get(key), new.get(key))}"
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


def changed_prompts(bundle: Path) -> list[str]:
    """Members of our sets whose texts are not those of this installation."""
    changed = []
    for path in sorted((bundle / "prompts").rglob("*")):
        name = path.relative_to(bundle / "prompts")
        if path.is_file() and not name.parts[0].startswith("own-"):
            ours = HOME / name
            if not ours.is_file() or ours.read_bytes() != path.read_bytes():
                changed.append(f"prompts/{name.as_posix()}")
    return changed


def sources_of(member: str, bundle: Path, own: Mapping[str, str]) -> set[str]:
    """The message sources of a file of a bundle's prompts and of the templates that include it, directly or not; of
    data next to templates all of the set. ``own``: name in the bundle -> in the records."""
    folder, found = bundle / "prompts", {member.removeprefix("prompts/")}
    unread = [*found]
    texts = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*.jinja"))
    }
    while unread:
        one = unread.pop()
        home = "" if one.endswith(".jinja") else one.rpartition("/")[0]
        including = {name for name, text in texts.items() if one in text or (home and name.startswith(f"{home}/"))}
        unread += including - found
        found |= including
    return {f"{own.get(home, home)}/{name}" for home, _, name in (file.rpartition("/") for file in found)}


def first_call(records: Iterable[Record], sources: Collection[str] | None = None) -> str:
    """The first call of the records, or the first with a message of these ``sources``; empty for none."""
    for record in sorted(records, key=lambda one: str((one["sample_id"], one["epoch"]))):
        for step in record["steps"]:
            if sources is None or any(message.get("source") in sources for message in step["asked"]):
                return f"{_place((record['sample_id'], str(record['epoch'])))}, {_call(step)}"
    return ""
