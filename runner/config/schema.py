"""The schema of a resolved config: the run's own fields. Groups are mappings that the parts check themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Interval, MinLen
from pydantic import StringConstraints

from components.core.errors import ConfigError

Node = Mapping[str, Any]
Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
Amount = Annotated[float, Ge(0)]
Count = Annotated[int, Ge(0)]
Positive = Annotated[int, Ge(1)]


def read_shard(shard: str) -> tuple[int, int]:
    """Read "i/n". Raises ConfigError when it is not 1 <= i <= n."""
    part, slash, parts = shard.partition("/")
    if not (slash and part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise ConfigError(f"run.shard={shard!r}: expected i/n with 1 <= i <= n, such as 1/4")
    return int(part), int(parts)


@dataclass(frozen=True)
class RunBudget:
    """Limits of the run; null = none."""

    usd: Amount | None = None
    tokens: Count | None = None
    calls: Count | None = None
    seconds: Amount | None = None


@dataclass(frozen=True)
class SampleBudget(RunBudget):
    """Limits of one sample; null = none."""

    steps: Count | None = None


@dataclass(frozen=True)
class Budgets:
    """``budget``. ``run`` holds for all jobs of a sweep together; ``ask_above_usd``: what a preflight asks from."""

    sample: SampleBudget = SampleBudget()
    run: RunBudget = RunBudget()
    ask_above_usd: Amount | None = None


_NO_JOURNAL = ("off", "no", "none", "false")  # words that mean it, but are texts in YAML of version 1.2


@dataclass(frozen=True)
class Run:
    """``run``: what does not change a score."""

    journal: str | None = None
    memory: str = "outputs/.memory"
    replay: bool | str = False
    resume: str | None = None
    shard: str | None = None
    shards: Positive | None = None
    preflight: bool = False
    pilot: Positive = 4
    max_error_rate: Annotated[float, Interval(ge=0, le=1)] = 0.0
    allow_targets: Sequence[str] = ()
    deviation: str | None = None

    def __post_init__(self) -> None:
        if self.shard is not None:
            read_shard(self.shard)
            if self.shards is not None:
                raise ConfigError("run.shard runs one part of a job, run.shards all of them: set only one of them")
        if (self.journal or "").lower() in _NO_JOURNAL:
            raise ConfigError(f"run.journal={self.journal} names a folder; run.journal=null runs without a journal")
        if self.preflight and self.journal is None:
            raise ConfigError("run.preflight keeps the pilot's calls in run.journal, which is null; name a journal")
        if self.replay is True and self.journal is None:
            raise ConfigError("run.replay=true answers from run.journal, which is null; name a journal")
        answers = self.journal if self.replay is True else self.replay
        if answers and not Path(answers).is_dir():
            raise ConfigError(f"run.replay: there is no journal {answers}; run once without replay, or name its folder")


@dataclass(frozen=True)
class Figure:
    """A plot of a sweep over models: these ``scores`` of the runs that have the settings ``where`` (key -> values)."""

    title: str
    scores: Annotated[Sequence[str], MinLen(1)]
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Compare:
    """``compare``: what the tables at the end of a sweep hold methods against.

    ``baselines``: choices of agent, or values that the sweep varies (``agent.strategies=[]``), of which the best on a
    dataset counts; null = the best other method. ``gains``: a name in ``conf/papers/gains``, with published
    differences. ``scores``: what table and page show first; null = the first of each group. ``curves``: settings that
    are varied one at a time. ``figures``: plots of a sweep over models; none = one of the first score. ``per_record``:
    a score that the page shows record by record.
    """

    baselines: Sequence[str] | None = None
    gains: str | None = None
    scores: Sequence[str] | None = None
    curves: Sequence[str] | None = None
    figures: Sequence[Figure] = ()
    per_record: str | None = None


# What MLflow connects to: a database, a server, or a folder, whose path has a slash.
_STORES = r"^((sqlite|https?|file|databricks|(postgresql|mysql|mssql)(\+\w+)?):/.+|databricks|[^:]*/[^:]*)$"


@dataclass(frozen=True)
class Tracking:
    """``tracking``: where finished runs are sent; ``uri`` null = nowhere; ``wait``: before the command ends;
    ``otlp``: a collector of OpenTelemetry, which has the episodes too."""

    uri: Annotated[str, StringConstraints(pattern=_STORES)] | None = None
    artifacts: str | None = None
    traces: Annotated[str, StringConstraints(pattern=r"^(all|errors|none|sample:\d+)$")] = "none"
    ui: str | None = None
    permits: Sequence[str] = ()
    wait: bool = False
    otlp: Annotated[str, StringConstraints(pattern=r"^https?://.+")] | None = None

    def __post_init__(self) -> None:
        if self.otlp is not None and self.uri is None:
            raise ConfigError("tracking.otlp needs tracking.uri, which is null: choose tracking=mlflow")


@dataclass(frozen=True)
class Settings:
    """The whole config."""

    name: Slug
    seed: int
    limit: Positive | None
    epochs: Annotated[int, Interval(ge=1, le=10_000)]
    budget: Budgets
    run: Run
    profile: Node
    model: Node
    agent: Node
    verifier: Node
    toolset: Node
    condition: Node
    dataset: Node
    scorer: Mapping[str, Node]
    tracking: Tracking
    models: Mapping[str, Node]
    grammars: Mapping[str, Node]
    sandbox: Node = field(default_factory=dict)
    memory: Node | None = None
    compare: Compare = Compare()
    stage: Literal["memory"] | Node | None = None
    protocol: str | None = None

    def __post_init__(self) -> None:
        if self.stage == "memory" and self.memory is None:
            raise ConfigError("a stage creates the memory of the config, which is null; choose memory=learnt")
