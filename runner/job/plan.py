"""The cells of a sweep: what varies, how each is called, and whether each of them can run."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig

from components.core.errors import ConfigError
from runner.config.errors import ConfigErrors, Finding
from runner.experiment.experiment import Experiment, Launch

_LONGEST = 80
_MOST_JOBS = 100_000


@dataclass
class Cell:
    """One job. ``varied``: the swept fields with their values; ``code`` None: not run; ``error``: why it broke off;
    ``experiment``: what was built to check it, until it is run; ``parts``: the jobs that run it in parts, and of such a
    job ``facts`` and ``ids`` of its samples in order."""

    overrides: tuple[str, ...]
    varied: Mapping[str, str]
    label: str
    folder: Path = Path()
    cfg: Mapping[str, Any] = field(default_factory=dict)
    launch: Launch = field(default_factory=Launch)
    config: DictConfig = field(default_factory=lambda: DictConfig({}))
    experiment: Experiment | None = None
    complete: bool = False
    code: int | None = None
    error: str = ""
    parts: "Sequence[Cell]" = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    ids: Sequence[str] = ()

    @property
    def home(self) -> Path:
        """The folder of the sweep."""
        return Path(self.launch.sweep or self.folder.parent)


def cells(
    from_file: Sequence[Override], given: Sequence[Override], skip: Sequence[Sequence[Override]] = ()
) -> list[Cell]:
    """All combinations, in the order of the command line, which has the last word on the fields ``from_file``; without
    jobs that have all overrides of one of ``skip``. Raises ConfigErrors for what can't be a sweep."""
    if doubles := [key for key, n in Counter(key_of(o) for o in given).items() if n > 1]:
        raise ConfigErrors(
            Finding("", f"{key} is given twice in one sweep; list its values once: {key}=a,b") for key in doubles
        )
    mine = {key_of(o) for o in given}
    overrides = [*(o for o in from_file if key_of(o) not in mine), *given]
    lists = [_values(o) for o in overrides]
    if math.prod(map(len, lists)) > _MOST_JOBS:
        raise ConfigError(f"the sweep has more than {_MOST_JOBS:,} jobs: give fewer values")
    if empty := [o.input_line for o, values in zip(overrides, lists, strict=True) if not values]:
        raise ConfigErrors(Finding("", f"{line}: the sweep is empty, there is no such value") for line in empty)
    swept = {key_of(o): n for n, o in enumerate(overrides) if o.is_sweep_override()}
    short = Counter(key.rpartition(".")[2] for key in swept)  # fields are as short as they stay different
    names = {(end if short[end := key.rpartition(".")[2]] == 1 else key): n for key, n in swept.items()}
    skipped = [{word for o in one for word in _values(o)} for one in skip]
    jobs = [job for job in itertools.product(*lists) if not any(one <= {*job} for one in skipped)]
    if not jobs:
        raise ConfigError("hydra.sweeper.skip leaves no job of the sweep; give hydra.sweeper.skip=[] to run it")
    if same := [job for job, n in Counter(jobs).items() if n > 1]:
        raise ConfigErrors(Finding("", f"the sweep holds the same job twice: {' '.join(job)}") for job in same)
    made = [Cell(job, {name: job[n].partition("=")[2] for name, n in names.items()}, "") for job in jobs]
    _label(made)
    return made


def key_of(override: Override) -> str:
    """The key that a word sets, without what it does to it."""
    return str(override.get_key_element()).lstrip("+~")


def _values(override: Override) -> list[str]:
    """The words of an override, one per value."""
    key = override.get_key_element()
    if not override.is_sweep_override():
        return [str(override.input_line) if override.is_delete() else f"{key}={override.get_value_element_as_str()}"]
    if not override.is_discrete_sweep():
        raise ConfigError(f"{override.input_line}: list the values; an interval has infinitely many")
    values = itertools.islice(override.sweep_string_iterator(), _MOST_JOBS + 1)  # a range may be endless
    return [f"{key}={value}" for value in values]


def _label(made: Sequence[Cell]) -> None:
    """Name every cell by what varies; a short digest where that is too long or the same as another's."""
    used = {field for cell in made for field in cell.varied if len({c.varied[field] for c in made}) > 1}
    labels = ["+".join(f"{_slug(f)}-{_slug(v)}" for f, v in c.varied.items() if f in used) or "only" for c in made]
    clash = {label.lower() for label, n in Counter(label.lower() for label in labels).items() if n > 1}
    for cell, label in zip(made, labels, strict=True):
        if label.lower() in clash or len(label) > _LONGEST:
            digest = sha256("\0".join(map(repr, sorted(cell.varied.items()))).encode()).hexdigest()[:8]
            label = f"{label[: _LONGEST - 9]}-{digest}"
        cell.label = label


def _slug(text: str) -> str:
    text = {"True": "true", "False": "false", "None": "null"}.get(text, text)  # Hydra spells them as Python does
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.") or "none"
