"""The text of a study: hypotheses, arms, samples, exclusions, and the rules of the analysis.

Words of clinical trials are used as in ICH E9 (1998): superiority, non-inferiority, equivalence, and a margin, which is
the largest difference that does not matter. A gain is the first arm less the second, positive where it is better.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Interval, Len, MinLen
from pydantic import FiniteFloat, StringConstraints

from components.core.errors import ConfigError
from components.text.structured import parse
from runner.config.build import check
from runner.config.errors import nearest, with_place
from runner.config.schema import RunBudget

Kind = Literal["superiority", "non-inferiority", "equivalence"]
Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Name = Annotated[str, StringConstraints(pattern=r"^[^\p{Cc}]{1,80}$")]
Share = Annotated[float, Gt(0), Interval(le=1)]
LOOK = 0.001  # alpha of a planned look, two-sided (Haybittle 1971, Peto 1976)
_LARGEST = 1_000_000  # bytes of a file


@dataclass(frozen=True)
class Hypothesis:
    """A claim about the first of two arms. ``direction``: which values of the metric are better. ``margin`` in units of
    the metric; of superiority by how much at least. For the power: the ``expected`` gain, the standard deviation of the
    differences of pairs (``sd``), or of scores of 0 and 1 the share of pairs that ``differ``; and how alike the
    differences of one patient are (``within``, an intraclass correlation)."""

    name: Name
    compare: Annotated[Sequence[str], Len(2, 2)]
    metric: Name
    kind: Kind
    direction: Literal["higher", "lower"]
    expected: FiniteFloat
    margin: Annotated[FiniteFloat, Ge(0)] = 0.0
    sd: Annotated[FiniteFloat, Gt(0)] | None = None
    differ: Share | None = None
    within: Annotated[float, Interval(ge=0, lt=1)] = 0.0

    def __post_init__(self) -> None:
        if self.compare[0] == self.compare[1]:
            raise ConfigError(f"compare: {self.compare[0]!r} is compared with itself")
        if self.kind != "superiority" and not self.margin:
            raise ConfigError(f"margin: {self.kind} needs a value above 0: the largest difference that does not matter")
        if (self.sd is None) == (self.differ is None):
            raise ConfigError("sd: give sd or, for scores of 0 and 1, differ, and not both: the power depends on it")
        if self.differ is not None and self.differ < abs(self.expected):
            raise ConfigError(f"differ: {self.differ} of the pairs cannot make a gain of {self.expected}")
        if min(self.room) <= 0:
            raise ConfigError(f"expected: with a gain of {self.expected} the claim ({self.claim}) would not be true")

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which gains the claim is true."""
        if self.kind == "superiority":
            return self.margin, math.inf
        return -self.margin, self.margin if self.kind == "equivalence" else math.inf

    @property
    def room(self) -> tuple[float, float]:
        """How far the expected gain is from either bound."""
        return self.expected - self.bounds[0], self.bounds[1] - self.expected

    @property
    def claim(self) -> str:
        """The claim about the gain."""
        low, high = self.bounds
        return f"gain > {low:g}" if math.isinf(high) else f"{low:g} < gain < {high:g}"

    @property
    def sentence(self) -> str:
        """The same in words."""
        superior = f"is more than {self.margin:g} better than" if self.margin else "is better than"
        words = {"superiority": superior, "non-inferiority": f"is less than {self.margin:g} worse than"}
        how = words.get(self.kind, f"differs by less than {self.margin:g} from")
        return f"{self.compare[0]} {how} {self.compare[1]}, by {self.metric}"

    @property
    def spread(self) -> float:
        """The standard deviation of the differences of pairs."""
        return self.sd if self.sd is not None else math.sqrt((self.differ or 0.0) - self.expected**2)


@dataclass(frozen=True)
class Exclusion:
    """Samples that are left out of the analysis, and why: those with this id, or with all of these ``strata``."""

    reason: Text
    ids: Sequence[str] = ()
    strata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.ids and not self.strata:
            raise ConfigError("ids: an exclusion names ids of samples, or values of strata")

    @property
    def text(self) -> str:
        """Which ones."""
        return ", ".join([*self.ids, *(f"{name}={value}" for name, value in self.strata.items())])

    def holds(self, sample: str, strata: Mapping[str, str]) -> bool:
        """Whether it is about a sample."""
        shared = [strata.get(name) == value for name, value in self.strata.items()]
        return sample in self.ids or (bool(shared) and all(shared))


@dataclass(frozen=True)
class Study:
    """A study. ``common`` and ``arms``: words of ``python -m runner``; ``models``: role -> name; ``samples``: how many
    are analysed in each arm, of each seed, after exclusions; ``alpha`` is two-sided: a claim is tested at half of it on
    one side, which the 95 % interval allows. ``looks``: numbers of samples at which an interim analysis is planned;
    ``timestamp``: the URL of a time-stamp authority (RFC 3161); ``tag``: the name of a git tag to make."""

    title: Name
    question: Text
    common: Sequence[str]
    arms: Annotated[Mapping[Name, Sequence[str]], MinLen(2)]
    models: Annotated[Mapping[str, str], MinLen(1)]
    samples: Annotated[int, Ge(2)]
    primary: Annotated[Sequence[Hypothesis], MinLen(1)]
    secondary: Sequence[Hypothesis] = ()
    seeds: Annotated[Sequence[int], MinLen(1)] = (0,)
    alpha: Annotated[float, Interval(gt=0, le=0.05)] = 0.05
    power: Annotated[float, Interval(gt=0, lt=1)] = 0.8
    multiplicity: Literal["holm", "sequence"] = "holm"
    exclusions: Sequence[Exclusion] = ()
    strata: Sequence[str] = ()
    looks: Sequence[Annotated[int, Ge(2)]] = ()
    stopping: str = "All samples are run; nothing is decided before."
    budget: RunBudget = field(default_factory=RunBudget)
    timestamp: Annotated[str, StringConstraints(pattern="^https?://")] | None = None
    tag: Annotated[str, StringConstraints(pattern=r"^[\w./-]+$")] | None = None

    def __post_init__(self) -> None:
        names = [one.name for one in self.hypotheses]
        if double := next((name for name in names if names.count(name) > 1), None):
            raise ConfigError(f"primary: two hypotheses are called {double!r}")
        for one in self.hypotheses:
            if unknown := next((arm for arm in one.compare if arm not in self.arms), None):
                raise ConfigError(f"arms: {one.name} compares {unknown!r}; {nearest(unknown, self.arms)}")
        if list(self.looks) != sorted(set(self.looks)) or any(n >= self.samples for n in self.looks):
            raise ConfigError(f"looks: {list(self.looks)} must increase, and be below the {self.samples} samples")
        if self.final_alpha <= 0:
            raise ConfigError(f"looks: {len(self.looks)} of {LOOK:g} each leave nothing of alpha {self.alpha:g}")

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """All of them, the primary ones first."""
        return [*self.primary, *self.secondary]

    @property
    def final_alpha(self) -> float:
        """What planned looks leave of alpha for the end."""
        return self.alpha - LOOK * len(self.looks)

    def keeps(self, sample: str, strata: Mapping[str, str]) -> bool:
        """Whether a sample is not excluded."""
        return not any(one.holds(sample, strata) for one in self.exclusions)

    def words(self, arm: str, seed: int) -> list[str]:
        """The words that run an arm with a seed."""
        budget = [f"budget.run.{key}={value}" for key, value in vars(self.budget).items() if value is not None]
        return [*self.common, *self.arms[arm], f"seed={seed}", *budget]

    @classmethod
    def of(cls, content: Any, where: str) -> "Study":
        """A study from the content of its file. Raises ConfigError."""
        if not isinstance(content, dict):
            raise ConfigError(f"{where}: a study is a mapping of names and values; runner.protocol new writes one")
        with with_place(where):
            return check(cls, content)


def read(path: Path) -> tuple[Any, str]:
    """What a study's file holds, and its SHA-256. Raises ConfigError."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; runner.protocol new {path} writes one") from None
    if len(raw) > _LARGEST:
        raise ConfigError(f"{path} has {len(raw):,} bytes; a study has at most {_LARGEST:,}")
    with with_place(path):
        return parse(raw.decode(), aliases=False), sha256(raw).hexdigest()
