"""Published gains: a YAML in ``conf/papers/gains`` lists which settings gained what, by which score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from components.core.errors import ConfigError
from components.text.yaml_text import read_yaml
from runner.config.build import check
from runner.results.intervals import Metric
from runner.results.paper import Line, Paper
from runner.results.runs import Run

TOTAL = "total"


@dataclass(frozen=True)
class Printed:
    """A published gain of runs with the settings ``where``: by the ``metric``, in total or in a ``part`` (a value of a
    stratum); ``relative`` as a share of the baseline, ``won``: clusters won, tied and lost. ``value``: no gain, but the
    published score itself; ``aside``: why no run can be compared with it; ``settings``: those of its experiment that
    are not the publication's own, such as the number of trials."""

    metric: str
    where: Mapping[str, Any]
    part: str = TOTAL
    absolute: float | None = None
    relative: float | None = None
    value: float | None = None
    won: str = ""
    note: str = ""
    relation: Literal["=", "about"] = "="
    aside: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """It in one line."""
        parts = [f"{self.absolute:+.3f}"] if self.absolute is not None else []
        parts += [f"{self.relative:+.1%}"] if self.relative is not None else []
        parts += [f"{self.value:.3f}"] if self.value is not None else []
        return ", ".join([*parts, *filter(None, (self.won, self.note))])

    def fits(self, run: Run) -> bool:
        """Whether a run has the settings; lists in any order."""
        return all(unordered(run.setting(key)) == unordered(value) for key, value in self.where.items())


@dataclass(frozen=True)
class Gains:
    """Gains of a publication with a ``backbone``; ``what`` they are over. ``paper``: the name in ``conf/papers`` that
    states the published setting."""

    citation: str
    what: str
    paper: str
    backbone: str
    gains: Sequence[Printed] = field(default=())


def load_gains(name: str, folder: Path) -> Gains:
    """Read the gains of a publication in ``folder/gains``. Raises ConfigError for an unknown name or a bad file."""
    path = folder / "gains" / f"{name}.yaml"
    if not path.is_file():
        have = ", ".join(sorted(one.stem for one in path.parent.glob("*.yaml")))
        raise ConfigError(f"compare.gains={name}: there are {have}")
    return check(Gains, read_yaml(path), path.name)


@dataclass(frozen=True)
class GainCell:
    """One published number of a gain, and a row of runs next to it, if there is one (``runs`` is empty otherwise)."""

    of: Gains
    printed: Printed
    what: str
    published: float | None = None
    bars: Sequence[str] = ()
    label: str = ""
    runs: Sequence[Run] = ()
    ours: Metric = field(default_factory=lambda: Metric(None))

    @property
    def method(self) -> str:
        """The settings that gain."""
        return ", ".join(f"{key}={unordered(value)}" for key, value in self.printed.where.items()).replace("'", "")

    @property
    def remark(self) -> str:
        """What is published with the number."""
        return ", ".join(filter(None, (self.printed.won, self.printed.note)))

    def line(self, paper: Paper) -> Line:
        """The method as one of a publication; the runs have its settings."""
        first = self.runs[0]
        settings = {key: [first.setting(key)] for key in self.printed.where} | dict(self.printed.settings)
        return Line(self.method, {}, next(iter(paper.tables)), settings)


def numbers(of: Gains, printed: Printed) -> list[GainCell]:
    """What is published of a gain, number by number."""
    found, aside = [], [printed.aside] if printed.aside else []
    if printed.absolute is not None:
        found.append(GainCell(of, printed, "gain", printed.absolute, aside))
    if printed.relative is not None:
        found.append(
            GainCell(of, printed, "relative gain", printed.relative, [*aside, "relative gains have no interval here"])
        )
    if printed.value is not None:
        found.append(GainCell(of, printed, "score", printed.value, aside))
    return found or [GainCell(of, printed, "gain", None, [*aside, "published as a test or a count only"])]


def unordered(value: Any) -> Any:
    """A list of settings whose order says nothing as one that can be compared."""
    return sorted(map(str, value)) if isinstance(value, list | tuple) else value
