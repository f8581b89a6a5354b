"""RaTEScore of the conclusion against the reference answer, by a program outside this house.

Source: Zhao et al. 2024, arXiv 2406.16845; named in the first version of RadABench's article (arXiv
2412.09529) without code or number, and dropped from the latest. It needs models of its own, so it is
not among the default scorers.
"""

from __future__ import annotations

import math
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar

import orjson

from components.core.errors import ConfigError
from components.core.traits import ScorerTraits
from components.core.types import CONTEXT_LENGTH, Sample, Score, Trajectory
from components.radiology.execution import kind_of

NAME = "response/ratescore"
PACKAGE = "RaTEScore"
Measure = Callable[[str, str], float]
_ELSE = "point scorer.ratescore.source at a module:function of (reference, response) or a command of yours"


@lru_cache(maxsize=8)
def measure(source: str, seconds: float) -> Measure:
    """The function behind the package's name, a ``module:function``, or a command line.

    A command reads one line of JSON, {"reference", "response"}, and prints the score. Raises ConfigError
    for what is not installed.
    """
    if source == PACKAGE:
        return _packaged()
    module, colon, name = source.partition(":")
    if colon and all(part.isidentifier() for part in (*module.split("."), name)):
        return _function(module, name)
    command = shlex.split(source)
    if not command or shutil.which(command[0]) is None:
        raise ConfigError(f"scorer ratescore: there is no command {source!r}; {_ELSE}")
    return lambda reference, response: _ask(command, seconds, reference, response)


def _packaged() -> Measure:
    """The package's score, whose models are loaded once."""
    scorer = _imported(PACKAGE).RaTEScore()
    return lambda reference, response: float(scorer.compute_score([response], [reference])[0])


def _function(module: str, name: str) -> Measure:
    """A function of an installed module."""
    found = getattr(_imported(module), name, None)
    if not callable(found):
        raise ConfigError(f"scorer ratescore: {module!r} has no function {name!r}")
    return lambda reference, response: float(found(reference, response))


def _imported(module: str) -> Any:
    """The module. Raises ConfigError when it or something it needs is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"scorer ratescore cannot import {error.name!r}: pip install 'wardround[ratescore]', or {_ELSE}"
        ) from error


def _ask(command: Sequence[str], seconds: float, reference: str, response: str) -> float:
    """The number that a command prints."""
    body = orjson.dumps({"reference": reference, "response": response})
    return float(subprocess.run(command, input=body, capture_output=True, timeout=seconds, check=True).stdout)


@dataclass(frozen=True)
class RaTEScore:
    """RaTEScore of a sample, 0 to 1. ``source``: the package, a ``module:function``, or a command, which is
    given ``seconds`` per answer. Raises ConfigError when it is not installed.
    """

    traits: ClassVar[ScorerTraits] = ScorerTraits(kinds={NAME: "share"})
    takes_code: ClassVar[Sequence[str]] = ("source",)  # what a stranger's config must not set unasked

    source: str = PACKAGE
    seconds: float = 60.0
    version: str = "2"

    def __post_init__(self) -> None:
        measure(self.source, self.seconds)

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Unscored without an answer or a reference, and where the program gives no number; 0 for a task that can be
        solved and was longer than the model takes."""
        reference, answer = str(sample.target["answer"]), trajectory.answer
        if reference and trajectory.failure == CONTEXT_LENGTH and kind_of(trajectory) != "insufficient":
            return [Score(NAME, 0.0, f"no answer ({trajectory.failure})")]
        if not reference or not answer:
            return [Score(NAME, None)]
        value = measure(self.source, self.seconds)(reference, answer)
        return [Score(NAME, value if math.isfinite(value) else None)]
