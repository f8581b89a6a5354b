"""Published results: a YAML in ``conf/papers`` describes the CSV next to it, and which rows a run compares to."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from components.core.errors import ConfigError
from components.text.structured import read_yaml
from runner.config.build import check
from runner.results.publications.published import Columns, Published, PublishedCell, Scopes, cells_in, rows_in
from runner.results.runs import Run

UNSTATED: Literal["unstated"] = "unstated"
HUNDRED = 100.0
Stated = float | Literal["unstated"]


@dataclass(frozen=True)
class Article:
    """The setting that an article states for all its runs (``conf/papers/articles``); ``unstated`` where it is silent.

    ``demonstrations`` are those in a request, ``memory`` the training samples learnt from before the test. ``methods``:
    a pattern of published methods -> settings in which they differ. ``models``: backbone -> its dated name; ``data``:
    what the samples are. ``aside``: a pattern of ``table/method`` -> why no run can be compared with those cells.
    """

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
        """Key of a config -> what is published for a method."""
        stated = {
            "model.temperature": self.temperature, "model.top_p": self.top_p, "seed": self.seed, "epochs": self.epochs,
            "agent.shots": self.demonstrations, "memory.samples": self.memory, "profile": self.profile,
        }  # fmt: skip
        for pattern, own in self.methods.items():
            stated |= own if re.fullmatch(pattern, method) else {}
        return stated

    def why_aside(self, cell: PublishedCell) -> str:
        """Why no run can be compared with a cell; empty where one can."""
        name = f"{cell.table}/{cell.method}"
        return next((why for pattern, why in self.aside.items() if re.fullmatch(pattern, name)), "")


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
    """A published method and the settings of the runs that are compared with it.

    ``where`` chooses such runs, ``settings`` are listed where a run has others: key -> value, or a list of those that
    will do. ``{key}`` in ``method`` is the run's setting. ``notes`` are differences of every such run, ``remarks``
    what else is published of it.
    """

    method: str
    where: Mapping[str, Any]
    table: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Paper:
    """A publication (see ``conf/papers``). ``scale``: the CSV's values are so many times a run's score. A YAML of the
    CSV's name in ``articles`` states the setting of all its runs.

    ``by``: a task is the choice of a group (dataset, condition) of a run; else the strata ``levels``,
    from the inner to the outer one, are its tasks and groups (twice the same where there are no groups), and without
    them those of the runs' score.
    """

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

    def unit(self, table: str) -> str:
        """In what the values of a table are."""
        own = self.tables[table].unit if table in self.tables else None
        return own if own is not None else "%" if self.scale == HUNDRED else ""

    @property
    def flat(self) -> bool:
        """Whether tasks are in no groups: then each is a group of its own."""
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

    def counterparts(self, line: Line, model: str) -> list[Published]:
        """The rows of a method: with the same backbone, where the model is a published one, else with any."""
        rows = [one for one in self.published if (one.method, one.table) == (line.method, line.table)]
        same = [one for one in rows if self.is_backbone(one.backbone, model)]
        return same or rows

    def settings_of(self, line: Line) -> dict[str, Any]:
        """Key of a config -> what is published for a method."""
        stated = {"epochs": 1} if self.states is None else self.states.settings(line.method)
        return {**stated, **self.settings, **line.settings}

    def is_backbone(self, backbone: str, model: str) -> bool:
        """Whether a model's name is of a published backbone."""
        pattern = self.backbones.get(backbone)
        return pattern is not None and re.search(pattern, model, re.IGNORECASE) is not None


def meets(found: object, wanted: object) -> bool:
    """Whether a setting is what is wanted, or among it."""
    return found in wanted if isinstance(wanted, list | tuple) else found == wanted


@cache
def load(folder: Path, name: str) -> Paper:
    """Read a publication of the folder, or a custom YAML by its path; once per process.

    Raises ConfigError for an unknown name, naming those there are, and for a bad file.
    """
    path = Path(name) if name.endswith(".yaml") else folder / f"{name}.yaml"
    if not path.is_file():
        have = ", ".join(sorted(one.stem for one in folder.glob("*.yaml"))) or "none"
        raise ConfigError(f"paper {name}: there is no such publication; there are {have}")
    paper = check(Paper, read_yaml(path), path.name)
    if unknown := {line.table for line in paper.rows if line.table} - set(paper.tables):
        raise ConfigError(f"{path}: rows name the tables {sorted(unknown)}; there are {', '.join(paper.tables)}")
    tables = {name: table.again for name, table in paper.tables.items()}
    cells = cells_in(path.parent / paper.file, paper.columns, paper.scopes, {*tables, *tables.values()})
    rows = list(rows_in(cells, tables, paper.silent, paper.digits))
    article = path.parent / "articles" / f"{paper.article}.yaml"
    states = check(Article, read_yaml(article), article.name) if article.is_file() else None
    return replace(paper, cells=cells, published=rows, states=states)
