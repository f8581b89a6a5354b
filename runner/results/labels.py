"""What rows of a table are called: the settings in which they differ."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runner.results.runs import Run, is_one_of


def labels_of(runs: Sequence[Run]) -> list[str]:
    """What tells rows apart; of one sweep only what it varies, where that is enough."""
    swept = {name for run in runs for name in run.notes.get("swept") or ()}
    if swept and len({run.notes.get("sweep") for run in runs}) == 1:
        short = [_label(run, runs, swept) for run in runs]
        if len(set(short)) == len(short):
            return short
    return [_label(run, runs) for run in runs]


def _label(run: Run, others: Sequence[Run], only: Collection[str] = ()) -> str:
    """The settings in which a row differs from the others; its agent and model where there are none.

    ``only``: the last parts of the keys that count, all where it is empty.
    """
    words = []
    groups = [key for key in dict.fromkeys(["agent", "model", *run.same]) if key in run.same]
    for group in groups:
        if (not only or group in only) and len({other.choices.get(group) for other in others}) > 1:
            words.append(str(run.choices.get(group, f"no {group}")))
        same = [one for one in others if _alike(one, run, group)]
        words += [run.choices[key] for key in _within(run, group) if not all(_alike(one, run, key) for one in same)]
        alike = [one.flat.get(group, {}) for one in same if all(_alike(one, run, key) for key in _within(run, group))]
        for key, value in run.flat[group].items():
            counts = not key.endswith("_target_") and (not only or is_one_of(key, only))
            if counts and any(one.get(key) != value for one in alike):
                words.append(f"{key.rpartition('.')[2]}={value}")
    words = words or [str(run.choices[group]) for group in ("agent", "model") if group in run.choices]
    return " ".join(words) or run.folder.name


def _within(run: Run, group: str) -> list[str]:
    """The choices of parts within a group's: a condition's ``condition.then``."""
    return [key for key in run.choices if key.startswith(f"{group}.")]


def _alike(one: Run, other: Run, group: str) -> bool:
    return one.choices.get(group) == other.choices.get(group)
