"""A row of runs and the published rows for it: the compared values and parts, the deviations from the published
setting, and peculiarities of the published values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from runner.results.arrays import Rows
from runner.results.intervals import Mean, Metric, mean_of
from runner.results.kinds import NUMBER, Scale
from runner.results.levels import Nested, shared_groups
from runner.results.publications.paper import UNSTATED, Line, Paper, Published, meets
from runner.results.rows import Row
from runner.results.runs import Run
from runner.results.table import Table

_TASK = "task"
_MISSING = "not set"
_NAMED = 5  # tasks of another size that are named; the table has all
# Groups and settings that make another task or another method; others change how it is done, and are listed only.
_ANOTHER_TASK = ("condition", "toolset", "dataset", "verifier")
_ANOTHER_METHOD = ("agent.strategies", "agent.build_tools", "agent.inner")
SIMULATED = "simulated model"


@dataclass(frozen=True)
class PublishedComparison:
    """A row, the published method that it is compared with, if any, and the published rows of that method."""

    paper: Paper
    row: Row
    line: Line | None
    published: Sequence[Published]

    @classmethod
    def of(cls, paper: Paper, row: Row) -> "PublishedComparison":
        """Find the counterparts of a row."""
        line = paper.line(row.first)
        return cls(paper, row, line, counterparts(paper, line, row.first.model) if line else ())

    @property
    def backbones(self) -> list[str]:
        """The published models that it is compared with."""
        return [one.backbone for one in self.published]

    @cached_property
    def nested(self) -> Nested:
        """The row's means; of no records where it was not scored by the paper's metric."""
        metric, by, table = self.paper.metric, self.paper.by, self.row.table
        levels = self.paper.levels or self.row.first.levels.get(metric) or ()
        if by:
            runs, levels = [run for run in self.row.runs if metric in run.scores], (_TASK, _TASK)
            table = Table.join([run.table.with_strata({_TASK: run.choices.get(by, "")}) for run in runs])
        table = table if levels else table.take(table.in_order()[:0])
        return Nested(table, table[f"scores/{metric}"], levels, self._scale)

    @property
    def _scale(self) -> Scale:
        """What the values of the paper's metric can be, by the run that has it."""
        runs = [run for run in self.row.runs if self.paper.metric in run.scores]
        return runs[0].scale(self.paper.metric) if runs else NUMBER

    @property
    def leaves(self) -> Mapping[tuple[str, ...], Mean]:
        """Path (outer, inner) -> mean of the row's samples."""
        return self.nested.leaves

    @property
    def outer(self) -> Mapping[str, Mean]:
        """Outer group -> mean of the row's means."""
        return self.nested.outer

    @property
    def paths(self) -> list[tuple[str, ...]]:
        """All parts, the published ones first, those of a group next to each other; of a single part the row's own."""
        if self.paper.single:
            return list(self.leaves)
        published = (path for one in self.published or self.paper.published[:1] for path in one.values)
        known = dict.fromkeys((*published, *self.leaves))
        groups = dict.fromkeys(path[0] for path in known)
        return [path for group in groups for path in known if path[0] == group]

    @property
    def common(self) -> list[str]:
        """The groups for which all compared methods have a mean."""
        return shared_groups([self.outer, *(one.outer for one in self.published)])

    def over(self, groups: Sequence[str] | None = None) -> Metric:
        """Mean of the means of these groups, or of all; of a single task its own mean."""
        tasks = [path for path in self.leaves if groups is None or path[0] in groups]
        return self.mean_of_part(tasks[0]) if len(tasks) == 1 else self.nested.total(groups).finished

    @property
    def sizes(self) -> Mapping[str, int]:
        """Task -> samples of the benchmark."""
        tables = self.paper.tables
        return tables[self.line.table].sizes if self.line else next(iter(tables.values())).sizes

    def count(self, path: tuple[str, ...]) -> str:
        """``n of N`` samples of a task."""
        n = f"{self.n_scored(path):,}" if path in self.leaves else "-"
        return f"{n} of {self.sizes[path[-1]]:,}" if path[-1] in self.sizes else n

    def n_scored(self, path: tuple[str, ...]) -> int:
        """How many samples of a task were scored, whatever the number of epochs."""
        nested, rows = self.nested, self._rows(path)
        return len(set(nested.table["sample_id"][rows[nested.values[rows] == nested.values[rows]]].tolist()))

    def mean_of_part(self, path: tuple[str, ...]) -> Metric:
        """The mean of a task, of the tasks of a group (one name) or in total (none), as ``metrics.json`` has it."""
        if len(path) == 2:
            return mean_of(self.nested.table, self.nested.values, self._scale, self._rows(path)).finished
        return self.over(path or None)

    def runs(self, path: tuple[str, ...]) -> list[Run]:
        """The runs that a mean is over."""
        if self.paper.by and path:
            return [run for run in self.row.runs if run.choices.get(self.paper.by, "") == path[-1]]
        return list(self.row.runs)

    def _rows(self, path: tuple[str, ...]) -> Rows:
        return self.nested.groups.get(path, self.nested.table.in_order()[:0])


def counterparts(paper: Paper, line: Line, model: str) -> list[Published]:
    """The rows of a method: with the same backbone, where the model is a published one, else with any."""
    rows = [one for one in paper.published if (one.method, one.table) == (line.method, line.table)]
    return [one for one in rows if paper.is_backbone(one.backbone, model)] or rows


@dataclass(frozen=True)
class Deviation:
    """One difference. ``bars``: why it makes a verdict impossible; empty where it is only listed."""

    kind: str
    detail: str
    bars: str = ""

    @property
    def text(self) -> str:
        """The deviation in one line."""
        return f"{self.kind}: {self.detail}"


def deviations(compared: PublishedComparison) -> list[str]:
    """The differences between the runs of a row and the published ones: settings, sizes, unscored, tasks of one
    side."""
    if compared.line is None or not compared.published:
        return ["no published row has these settings"]
    found = [one.text for one in of_runs(compared.paper, compared.line, compared.backbones, compared.row.runs)]
    tasks, sizes = [path for path in compared.paths if path in compared.leaves], compared.sizes
    counts = {path: compared.n_scored(path) for path in tasks}
    small = [f"{path[-1]} {compared.count(path)}" for path, n in counts.items() if n != sizes.get(path[-1])]
    if small and sizes:
        more = f" and {len(small) - _NAMED} more tasks" if len(small) > _NAMED else ""
        whole = f"{sum(counts.values()):,} of {sum(sizes.values()):,} samples"
        found.append(f"size: {whole}; {', '.join(small[:_NAMED])}{more}")
    if missing := [path[-1] for path in compared.paths if path not in compared.leaves and path[-1] in sizes]:
        found.append(f"tasks that were not run: {', '.join(missing)}")
    if unscored := compared.over().unscored:
        found.append(f"unscored: {unscored:,} episodes, which are left out of every mean")
    return list(dict.fromkeys([*found, *compared.line.notes]))


def of_runs(paper: Paper, line: Line, backbones: Sequence[str], runs: Sequence[Run]) -> list[Deviation]:
    """Prompts, model, dates, data and settings in which runs differ from a published method on these backbones."""
    found = [Deviation("prompts", "the project's own, never the published texts")]
    for run in runs:
        found += [*_model_and_data(paper, line, backbones, run), *_settings(paper, line, run)]
        found += [Deviation("note", text) for text in run.manifest.get("notes") or ()]
        if (status := run.manifest.get("status")) != "complete":
            found.append(Deviation("status", f"{run.folder.name} is {status}", "run not complete"))
    return list(dict.fromkeys(found))


def remarks(compared: PublishedComparison) -> list[str]:
    """Peculiarities of the published rows: means that do not follow from their values, notes on single values."""
    slips = [slip for one in compared.published for slip in one.slips]
    tasks = {path[-1] for path in compared.leaves}
    noted = [(one.label, task, note) for one in compared.published for task, note in one.notes.items()]
    notes = [f"{label}, {task}: {note.replace('_', ' ')}" for label, task, note in noted if task in tasks]
    return [*slips, *notes, *(compared.line.remarks if compared.line else ())]


def _model_and_data(paper: Paper, line: Line, backbones: Sequence[str], run: Run) -> Iterator[Deviation]:
    """Another model, or snapshot; when each was run; other data, another split, no score to compare."""
    names = paper.states.models if paper.states else {}
    theirs = ", ".join(names.get(one, one) for one in backbones)
    if run.simulated:
        yield Deviation("model", "simulated, its numbers say nothing of a real one", SIMULATED)
    elif not (same := [one for one in backbones if paper.is_backbone(one, run.model)]):
        yield Deviation("model", f"{run.model}; published: {theirs}", "another model")
    elif snapshots := [names[one] for one in same if one in names and names[one].lower() not in run.model.lower()]:
        yield Deviation("model", f"{run.model}; published: {', '.join(snapshots)}")
    if paper.states:
        day = str(run.manifest.get("start", "at an unknown time"))[:10]
        yield Deviation("dates", f"run {day}; published: {paper.states.published}")
    data, stated = run.manifest.get("dataset") or {}, f"; published: {paper.states.data}" if paper.states else ""
    shipped = run.setting("dataset.shipped") and not run.setting("dataset.path")
    if shipped or (paper.datasets and data.get("name") not in paper.datasets):
        kind = " (shipped, made by the project)" if shipped else ""
        yield Deviation("data", f"{data.get('name')}{kind} is not the published data{stated}", "other data")
    elif limit := run.manifest.get("limit"):
        yield Deviation("data", f"limit={limit} of {data.get('name')}{stated}")
    table = paper.tables.get(line.table)
    if table is not None and data.get("split") != table.split:
        yield Deviation("split", f"{data.get('split')}; published: {table.split}", "another split")
    if paper.metric not in (run.scores if paper.by or paper.levels else run.levels):
        have = "+".join(run.manifest.get("scorers") or {})
        yield Deviation("metric", f"{run.folder.name} has no {paper.metric} (scorer: {have})", "not scored")


def _settings(paper: Paper, line: Line, run: Run) -> Iterator[Deviation]:
    """Settings as they took effect: an agent without one for demonstrations shows those of its memory, or none."""
    memory = run.cfg.get("memory") or {}
    collected_only = memory.get("learn") is False or "n" in (memory.get("stage") or {})
    learnt_from = 0 if not memory or collected_only else memory.get("samples") or "all"
    effective = {"epochs": run.manifest.get("epochs", 1), "memory.samples": learnt_from}
    if run.setting("agent.shots") is None:
        effective["agent.shots"] = run.setting("memory.k") or 0
    stated = {"epochs": 1} if paper.states is None else paper.states.settings(line.method)
    for key, published in {**stated, **paper.settings, **line.settings}.items():
        actual = effective[key] if key in effective else run.setting(key)
        if meets(actual, published) or (run.simulated and key.startswith("model.")):
            continue
        decisive = published != UNSTATED and (key.partition(".")[0] in _ANOTHER_TASK or key in _ANOTHER_METHOD)
        allowed = published if isinstance(published, list | tuple) else [published]
        detail = f"{_text(actual)}; published: {' or '.join(map(_text, allowed))}"
        yield Deviation(key, detail, f"another {key}" if decisive else "")


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "none"
    if value == UNSTATED:
        return "not stated"
    return _MISSING if value is None else str(value).lower() if isinstance(value, bool) else str(value)
