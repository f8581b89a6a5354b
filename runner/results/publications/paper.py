"""Published results: a YAML in ``conf/papers`` describes the CSV next to it; what every line of that says, the rows
that its cells make, and which of them a run compares to."""

import csv
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from components.core.errors import ConfigError
from components.text.structured import read_yaml
from runner.config.build import check
from runner.config.errors import nearest
from runner.results.cells import figure
from runner.results.intervals import Mean, Metric
from runner.results.kinds import group_by
from runner.results.levels import average
from runner.results.runs import Run
from runner.results.sheets import PERCENT

TOTAL = "total"
RELATIONS = {"=": "", "<": "below ", ">": "above ", "about": "about "}
UNSTATED: Literal["unstated"] = "unstated"
HUNDRED = 100.0
Stated = float | Literal["unstated"]


@dataclass(frozen=True)
class Columns:
    """What the CSV calls its columns: ``inner`` a task, ``outer`` its dimension. Without ``relation`` all are exact."""

    outer: str
    inner: str
    table: str = "table"
    backbone: str = "backbone"
    method: str = "method"
    scope: str = "scope"
    value: str = "value"
    note: str = "note"
    relation: str = "relation"


@dataclass(frozen=True)
class Scopes:
    """The words of the scope column for values of tasks, means of them, and totals."""

    inner: str
    outer: str
    total: str


@dataclass(frozen=True)
class PublishedCell:
    """One published value, None where there is no number. ``path``: (outer, inner) of a task, (outer,) of a mean over
    tasks, () of a total; ``relation``: whether it is exact, a bound or approximate."""

    table: str
    backbone: str
    method: str
    path: tuple[str, ...]
    value: float | None
    note: str = ""
    relation: str = "="


@dataclass(frozen=True)
class Published:
    """One published row: path (outer, inner) -> value, None where none is published; the published means, which are
    rounded to so many ``digits`` as the values are."""

    table: str
    backbone: str
    method: str
    values: Mapping[tuple[str, str], float | None]
    printed: Sequence[tuple[str, str, float]] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    digits: int = 2

    @property
    def label(self) -> str:
        """Backbone and method."""
        return f"{self.backbone} {self.method}"

    @cached_property
    def outer(self) -> dict[str, Mean]:
        """Outer group -> mean of the published values within it."""
        groups = group_by(self.values.items(), lambda pair: pair[0][0])
        return {
            name: average([Mean(Metric(value, n=value is not None)) for _, value in of]) for name, of in groups.items()
        }

    def total(self, groups: Sequence[str] | None = None) -> Mean:
        """Mean of the means of all outer groups, or of these."""
        return average([mean for name, mean in self.outer.items() if groups is None or name in groups])

    @property
    def slips(self) -> list[str]:
        """Published means that do not follow from the published values."""
        found = []
        for table, name, value in self.printed:
            mean = (self.total() if name == TOTAL else self.outer[name]).value
            if mean is None or abs(mean - value) > 1.01 * 10**-self.digits:  # two roundings
                printed, computed = figure(value, PERCENT), "nothing" if mean is None else figure(mean, PERCENT)
                found.append(
                    f"{self.label}: {name} is {printed} in {table}, and {computed} by its values in {self.table}"
                )
        return found


def cells_in(path: Path, columns: Columns, scopes: Scopes, tables: Collection[str | None]) -> list[PublishedCell]:
    """The lines of the CSV that are of these tables. Raises ConfigError with file and line."""
    paths = {scopes.inner: (columns.outer, columns.inner), scopes.outer: (columns.outer,), scopes.total: ()}
    if not path.is_file():
        raise ConfigError(f"{path} is missing: it holds the published numbers")
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    found = []
    for number, line in enumerate(lines, 2):
        if missing := [one for one in vars(columns).values() if one != columns.relation and line.get(one) is None]:
            raise ConfigError(f"{path}:{number}: no column {missing[0]!r}")
        value, relation = line[columns.value], line.get(columns.relation) or "="
        if value and not re.fullmatch(r"-?\d+(\.\d+)?", value):
            raise ConfigError(f"{path}:{number}: {columns.value} must be a number or empty, found {value!r}")
        if relation not in RELATIONS:
            known = " ".join(RELATIONS)
            raise ConfigError(f"{path}:{number}: {columns.relation} is one of {known}, found {relation!r}")
        if line[columns.table] not in tables:
            continue
        if (scope := line[columns.scope]) not in paths:
            raise ConfigError(f"{path}:{number}: {columns.scope} is one of {' '.join(paths)}, found {scope!r}")
        named = (line[columns.table], line[columns.backbone], line[columns.method])
        place = tuple(line[column] for column in paths[scope])
        found.append(PublishedCell(*named, place, float(value) if value else None, line[columns.note], relation))
    return found


@dataclass(frozen=True)
class Article:
    """The setting that an article states for all its runs (``conf/papers/articles``); ``unstated`` where it is silent.
    ``demonstrations`` are those in a request, ``memory`` the training samples learnt from before the test. ``methods``:
    a pattern of published methods -> settings in which they differ. ``models``: backbone -> its dated name; ``data``:
    what the samples are. ``aside``: a pattern of ``table/method`` -> why no run can be compared with those cells."""

    published: str
    data: str
    temperature: Stated
    top_p: Stated
    seed: int | Literal["unstated"]
    epochs: int | Literal["unstated"]
    demonstrations: int | Literal["unstated"]
    memory: int | Literal["unstated"]
    profile: Literal["code", "paper", "unstated"]
    models: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    aside: Mapping[str, str] = field(default_factory=dict)

    def settings(self, method: str) -> dict[str, Any]:
        """Key of a config -> the published setting of a method."""
        stated = {
            "model.temperature": self.temperature, "model.top_p": self.top_p, "seed": self.seed, "epochs": self.epochs,
            "agent.shots": self.demonstrations, "memory.samples": self.memory, "profile": self.profile,
        }  # fmt: skip
        for pattern, own in self.methods.items():
            stated |= own if re.fullmatch(pattern, method) else {}
        return stated


@dataclass(frozen=True)
class Table:
    """``sizes``: task -> samples; ``again``: a table that publishes the same means, maybe with slips;
    ``unit`` of its values, where that is not the publication's."""

    sizes: Mapping[str, int]
    split: str = "test"
    again: str | None = None
    unit: str | None = None


@dataclass(frozen=True)
class Line:
    """A published method and the settings of the runs that are compared with it. ``where`` chooses such runs,
    ``settings`` are listed where a run has others: key -> value, or a list of those that will do. ``{key}`` in
    ``method`` is the run's setting. ``notes`` are differences of every such run, ``remarks`` what else is published of
    it."""

    method: str
    where: Mapping[str, Any]
    table: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Paper:
    """A publication (see ``conf/papers``). ``scale``: the CSV's values are so many times a run's score. A YAML of the
    CSV's name in ``articles`` states the setting of all its runs. ``by``: a task is the choice of a group (dataset,
    condition) of a run; else the strata ``levels``, from the inner to the outer one, are its tasks and groups (twice
    the same where there are no groups), and without them those of the runs' score."""

    title: str
    citation: str
    file: str
    columns: Columns
    scopes: Scopes
    metric: str
    tables: Mapping[str, Table]
    rows: Sequence[Line]
    scale: float = 1.0
    digits: int = 2
    by: str = ""
    levels: Sequence[str] = ()
    silent: Sequence[str] = ()
    datasets: Sequence[str] = ()
    backbones: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    cells: Sequence[PublishedCell] = ()
    published: Sequence[Published] = ()
    states: Article | None = None

    @property
    def article(self) -> str:
        """The name of its CSV."""
        return self.file.removesuffix(".csv")

    def unit(self, table: str = "") -> str:
        """In what the values of a table are, or those of most."""
        own = self.tables[table].unit if table in self.tables else None
        return own if own is not None else "%" if self.scale == HUNDRED else ""

    @property
    def flat(self) -> bool:
        """Whether tasks have no groups; then each task is a group."""
        return self.columns.inner == self.columns.outer

    @property
    def by_dataset(self) -> bool:
        """Whether datasets are the tasks: runs of one method on several make one row."""
        return self.by == "dataset"

    @property
    def single(self) -> bool:
        """Whether every row has but one task: the choice of a group other than the dataset."""
        return bool(self.by) and not self.by_dataset

    def line(self, run: Run) -> Line | None:
        """The published method that a run is compared with."""
        for line in self.rows:
            if all(meets(run.setting(key), value) for key, value in line.where.items()):
                method = re.sub(r"\{([\w.]+)\}", lambda found: str(run.setting(found[1])), line.method)
                return replace(line, method=method, table=line.table or next(iter(self.tables)))
        return None

    def is_backbone(self, backbone: str, model: str) -> bool:
        """Whether a model's name is of a published backbone."""
        pattern = self.backbones.get(backbone)
        return pattern is not None and re.search(pattern, model, re.IGNORECASE) is not None


def meets(found: object, wanted: object) -> bool:
    """Whether a setting equals the expected value, or is among the expected values."""
    return found in wanted if isinstance(wanted, list | tuple) else found == wanted


@cache
def load(folder: Path, name: str) -> Paper:
    """Read a publication of the folder, or a custom YAML by its path, once per process. Raises ConfigError if bad."""
    path = Path(name) if name.endswith(".yaml") else folder / f"{name}.yaml"
    if not path.is_file():
        known = [one.stem for one in folder.glob("*.yaml")]
        raise ConfigError(f"paper {name}: there is no such publication; {nearest(name, known)}")
    paper = check(Paper, read_yaml(path), path.name)
    if unknown := {line.table for line in paper.rows if line.table} - set(paper.tables):
        raise ConfigError(f"{path}: rows name the tables {sorted(unknown)}; there are {', '.join(paper.tables)}")
    again = {name: table.again for name, table in paper.tables.items()}
    cells = cells_in(path.parent / paper.file, paper.columns, paper.scopes, {*again, *again.values()})
    rows = []
    of_method = group_by(cells, lambda one: (one.backbone, one.method))
    for table, backbone, method in dict.fromkeys(
        (one.table, one.backbone, one.method) for one in cells if one.table in again
    ):
        of = of_method[backbone, method]
        own = [one for one in of if one.table == table and len(one.path) == 2]
        values = {(one.path[0], one.path[1]): one.value for one in own}
        printed = [one for one in of if len(one.path) < 2 and one.table in (table, again.get(table))]
        means = [(one.table, (*one.path, TOTAL)[0], one.value) for one in printed if one.value is not None]
        notes = {one.path[-1]: one.note for one in own if one.note and one.note not in paper.silent}
        rows += [Published(table, backbone, method, values, means, notes, paper.digits)] if of else []
    article = path.parent / "articles" / f"{paper.article}.yaml"
    states = check(Article, read_yaml(article), article.name) if article.is_file() else None
    return replace(paper, cells=cells, published=rows, states=states)
