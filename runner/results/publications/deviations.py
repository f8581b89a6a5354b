"""In what a run differs from the published setting, by name, and what is odd in what is published."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.results.publications.comparison import PublishedComparison
from runner.results.publications.paper import UNSTATED, Line, Paper, meets
from runner.results.runs import Run

_MISSING = "not set"
_NAMED = 5  # tasks of another size that are named; the table has all
# Groups and settings that make another task or another method; others change how it is done, and are listed only.
_TASK, _METHOD = (
    ("condition", "toolset", "dataset", "verifier"),
    ("agent.strategies", "agent.build_tools", "agent.inner"),
)
SIMULATED = "simulated model"


@dataclass(frozen=True)
class Deviation:
    """One difference. ``bars``: why it makes a verdict impossible; empty where it is listed only."""

    kind: str
    detail: str
    bars: str = ""

    @property
    def text(self) -> str:
        """It in one line."""
        return f"{self.kind}: {self.detail}"


def deviations(compared: PublishedComparison) -> list[str]:
    """What differs between the runs of a row and the published ones, a line each."""
    if compared.line is None or not compared.published:
        return ["no published row has these settings"]
    found = [one.text for one in of_runs(compared.paper, compared.line, compared.backbones, compared.row.runs)]
    return list(dict.fromkeys([*found, *_sizes(compared), *compared.line.notes]))


def of_runs(paper: Paper, line: Line, backbones: Sequence[str], runs: Sequence[Run]) -> list[Deviation]:
    """Prompts, model, dates, data and settings in which runs differ from a published method on these backbones."""
    found = [Deviation("prompts", "the project's own, never the published texts")]
    for run in runs:
        found += [*_model(paper, backbones, run), *_data(paper, line, run), *_settings(paper, line, run), *_own(run)]
    return list(dict.fromkeys(found))


def remarks(compared: PublishedComparison) -> list[str]:
    """What is odd in the published rows: means that do not follow from their values, notes on single values."""
    slips = [slip for one in compared.published for slip in one.slips]
    tasks = {path[-1] for path in compared.leaves}
    notes = [
        f"{one.label}, {task}: {note.replace('_', ' ')}"
        for one in compared.published
        for task, note in one.notes.items()
        if task in tasks
    ]
    return [*slips, *notes, *(compared.line.remarks if compared.line else ())]


def _model(paper: Paper, backbones: Sequence[str], run: Run) -> Iterator[Deviation]:
    """Another model, or one of which the publication names no snapshot or another one; and when each was run."""
    names = paper.states.models if paper.states else {}
    theirs = ", ".join(names.get(one, one) for one in backbones)
    if run.simulated:
        yield Deviation("model", "simulated, its numbers say nothing of a real one", SIMULATED)
    elif not (same := [one for one in backbones if paper.is_backbone(one, run.model)]):
        yield Deviation("model", f"{run.model}; published: {theirs}", "another model")
    elif snapshots := [names[one] for one in same if one in names and names[one].lower() not in run.model.lower()]:
        yield Deviation("model", f"{run.model}; published: {', '.join(snapshots)}")
    if paper.states:
        yield Deviation("dates", f"run {str(run.notes.get('start', 'at an unknown time'))[:10]}; "
                                 f"published: {paper.states.published}")  # fmt: skip


def _data(paper: Paper, line: Line, run: Run) -> Iterator[Deviation]:
    """Other data, another split, no score to compare."""
    table, data = paper.tables.get(line.table), run.notes.get("dataset") or {}
    name, theirs = data.get("name"), f"; published: {paper.states.data}" if paper.states else ""
    shipped = run.setting("dataset.shipped") and not run.setting("dataset.path")
    if shipped or (paper.datasets and name not in paper.datasets):
        kind = " (shipped, made by the project)" if shipped else ""
        yield Deviation("data", f"{name}{kind} is not the published data{theirs}", "other data")
    elif limit := run.notes.get("limit"):
        yield Deviation("data", f"limit={limit} of {name}{theirs}")
    if table is not None and data.get("split") != table.split:
        yield Deviation("split", f"{data.get('split')}; published: {table.split}", "another split")
    by_score = not (paper.by or paper.levels)
    if paper.metric not in (run.levels if by_score else run.scores):
        have = "+".join(run.notes.get("scorers") or {})
        yield Deviation("metric", f"{run.folder.name} has no {paper.metric} (scorer: {have})", "not scored")


def _sizes(compared: PublishedComparison) -> Iterator[str]:
    """Tasks of another size, unscored samples, tasks that only one side has."""
    tasks = [path for path in compared.paths if path in compared.leaves]
    small = [
        f"{task[-1]} {compared.count(task)}"
        for task in tasks
        if compared.n_scored(task) != compared.sizes.get(task[-1])
    ]
    if small and compared.sizes:
        scored, whole = (sum(numbers) for numbers in ([compared.n_scored(t) for t in tasks], compared.sizes.values()))
        more = f" and {len(small) - _NAMED} more tasks" if len(small) > _NAMED else ""
        yield f"size: {scored:,} of {whole:,} samples; {', '.join(small[:_NAMED])}{more}"
    if missing := [path[-1] for path in compared.paths if path not in compared.leaves and path[-1] in compared.sizes]:
        yield f"tasks that were not run: {', '.join(missing)}"
    if unscored := compared.over().unscored:
        yield f"unscored: {unscored:,} episodes, which are left out of every mean"


def _settings(paper: Paper, line: Line, run: Run) -> Iterator[Deviation]:
    """Settings that are not the published ones."""
    for key, wanted in paper.settings_of(line).items():
        found = _found(run, key)
        if meets(found, wanted) or (run.simulated and key.startswith("model.")):
            continue
        decisive = wanted != UNSTATED and (key.partition(".")[0] in _TASK or key in _METHOD)
        yield Deviation(key, f"{_text(found)}; published: {_any(wanted)}", f"another {key}" if decisive else "")


def _found(run: Run, key: str) -> object:
    """A setting as it took effect: an agent without a setting for demonstrations shows those of its memory, or none."""
    if key == "epochs":
        return run.notes.get("epochs", 1)
    found = run.setting(key)
    if key == "agent.shots" and found is None:
        return run.setting("memory.k") or 0
    if key == "memory.samples":
        return _learnt_from(run)
    return found


def _learnt_from(run: Run) -> object:
    """How many training samples were learnt from; 0 where examples were only collected, or nothing was learnt."""
    memory = run.cfg.get("memory") or {}
    if not memory or memory.get("learn") is False or "n" in (memory.get("stage") or {}):
        return 0
    return memory.get("samples") or "all"


def _own(run: Run) -> Iterator[Deviation]:
    """The run's own notes, and that it did not come to its end."""
    yield from (Deviation("note", text) for text in run.notes.get("notes") or ())
    if (status := run.notes.get("status")) != "complete":
        yield Deviation("status", f"{run.folder.name} is {status}", "run not complete")


def _any(wanted: object) -> str:
    """A value, or those that will do."""
    return " or ".join(map(_text, wanted)) if isinstance(wanted, list | tuple) else _text(wanted)


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "none"
    if value == UNSTATED:
        return "not stated"
    return _MISSING if value is None else str(value).lower() if isinstance(value, bool) else str(value)
