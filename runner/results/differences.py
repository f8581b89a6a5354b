"""Why a run may not be compared with what is in print, by name, and what is odd in print itself."""

from __future__ import annotations

from collections.abc import Iterator

from runner.results.beside import Beside
from runner.results.paper import meets
from runner.results.rows import Run

_MISSING = "not set"
_NAMED = 5  # tasks of another size that are named; the table has all


def differences(beside: Beside) -> list[str]:
    """Model, data, split, size and settings in which the runs of a row differ from the published ones."""
    if not beside.published:
        return ["no row in print has these settings"]
    return list(dict.fromkeys([*_model(beside), *_data(beside), *_sizes(beside), *_settings(beside)]))


def remarks(beside: Beside) -> list[str]:
    """What is odd in the published rows: means that do not follow from their values, notes on single values."""
    slips = [slip for one in beside.published for slip in one.slips]
    tasks = {path[-1] for path in beside.leaves}
    notes = [
        f"{one.label}, {task}: {note.replace('_', ' ')}"
        for one in beside.published
        for task, note in one.notes.items()
        if task in tasks
    ]
    return [*slips, *notes, *(beside.line.remarks if beside.line else ())]


def _model(beside: Beside) -> Iterator[str]:
    backbones = [one.backbone for one in beside.published]
    for run in beside.row.runs:
        if run.simulated:
            yield f"model: a simulated one, whose numbers say nothing of a real one; in print {', '.join(backbones)}"
        elif not any(beside.paper.is_backbone(one, run.model) for one in backbones):
            yield f"model: {run.model}; in print {', '.join(backbones)}"


def _data(beside: Beside) -> Iterator[str]:
    """Other data, another split, no score to compare."""
    assert beside.line is not None, "it has counterparts"
    table = beside.paper.tables[beside.line.table]
    for run in beside.row.runs:
        data = run.notes.get("dataset") or {}
        if beside.paper.datasets and data.get("name") not in beside.paper.datasets:
            yield f"dataset: {data.get('name')} is not the data in print"
        if data.get("split") != table.split:
            yield f"split: {data.get('split')} here, {table.split} in print"
        by_score = not (beside.paper.by or beside.paper.levels)
        if beside.paper.metric not in (run.levels if by_score else run.scores):
            have = "+".join(run.notes.get("scorers") or {})
            yield f"metric: {run.folder.name} has no {beside.paper.metric} (scorer: {have})"


def _sizes(beside: Beside) -> Iterator[str]:
    """Tasks of another size, unscored samples, tasks that only one side has."""
    tasks = [path for path in beside.paths if path in beside.leaves]
    small = [f"{task[-1]} {beside.count(task)}" for task in tasks if beside.played(task) != beside.sizes.get(task[-1])]
    if small and beside.sizes:
        played, whole = (sum(numbers) for numbers in ([beside.played(t) for t in tasks], beside.sizes.values()))
        more = f" and {len(small) - _NAMED} more tasks" if len(small) > _NAMED else ""
        yield f"size: {played:,} of {whole:,} samples; {', '.join(small[:_NAMED])}{more}"
    if missing := [path[-1] for path in beside.paths if path not in beside.leaves and path[-1] in beside.sizes]:
        yield f"tasks that were not run: {', '.join(missing)}"
    if unscored := beside.total.unscored:
        yield f"unscored: {unscored:,} episodes, which are left out of every mean"


def _settings(beside: Beside) -> Iterator[str]:
    """Settings that are not as in print, and what the runs say of themselves."""
    assert beside.line is not None, "it has counterparts"
    for run in beside.row.runs:
        for key, wanted in {**beside.paper.settings, **beside.line.settings}.items():
            if not meets(found := run.setting(key), wanted) and not (run.simulated and key.startswith("model.")):
                yield f"{key}: {_said(found)} here, {_any(wanted)} in print"
        if run.notes.get("epochs", 1) != 1:
            yield f"epochs: {run.notes['epochs']} here, 1 in print"
        yield from _own(run)
    yield from beside.line.notes


def _own(run: Run) -> Iterator[str]:
    """The run's own notes, and that it did not come to its end."""
    yield from run.notes.get("notes") or ()
    if (status := run.notes.get("status")) != "complete":
        yield f"status: {run.folder.name} is {status}"


def _any(wanted: object) -> str:
    """A value, or those that will do."""
    return " or ".join(map(_said, wanted)) if isinstance(wanted, list | tuple) else _said(wanted)


def _said(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value)) or "none"
    return _MISSING if value is None else str(value).lower() if isinstance(value, bool) else str(value)
