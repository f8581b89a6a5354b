"""RaTEScore of the conclusion against the reference answer, by a program outside this house.

Source: Zhao et al. 2024, arXiv 2406.16845; named in the first version of RadABench's article (arXiv
2412.09529) without code or number, and dropped from the latest. It needs models of its own, so it is
not among the default scorers.
"""

from __future__ import annotations

import math
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module

import orjson

from components.errors import ConfigError
from components.types import Sample, Score, Trajectory

NAME = "response/ratescore"
Measure = Callable[[str, str], float]


@lru_cache(maxsize=8)
def measure(source: str, seconds: float) -> Measure:
    """The function behind ``module:function`` or a command line, which takes reference and response.

    A command reads them as one line of JSON {"reference", "response"} and prints the score. Raises
    ConfigError when the module or function is not there.
    """
    module, colon, name = source.partition(":")
    if not colon or " " in source or "/" in source:
        return lambda reference, response: _run(source, seconds, reference, response)
    try:
        found = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        missing = error.name or module
        raise ConfigError(
            f"scorer ratescore cannot import {missing!r}: install wardround[ratescore], or point"
            " scorer.ratescore.source at a module:function or a command of yours"
        ) from error
    if not callable(found):
        raise ConfigError(f"scorer ratescore: {module!r} has no function {name!r}")
    function: Measure = found
    return function


def _run(command: str, seconds: float, reference: str, response: str) -> float:
    """Ask the command. Raises ConfigError when there is no such command, ValueError for what is no number."""
    body = orjson.dumps({"reference": reference, "response": response})
    try:
        done = subprocess.run(shlex.split(command), input=body, capture_output=True, timeout=seconds, check=True)
    except FileNotFoundError as error:
        raise ConfigError(f"scorer ratescore: there is no command {command!r}") from error
    return float(done.stdout)


@lru_cache(maxsize=1)
def _packaged() -> Measure:
    """The score of package RaTEScore, whose models are loaded once. Raises ConfigError without it."""
    try:
        scorer = import_module("RaTEScore").RaTEScore()
    except ModuleNotFoundError as error:
        raise ConfigError(
            "scorer ratescore needs package RaTEScore: install wardround[ratescore], or point"
            " scorer.ratescore.source at a module:function or a command of yours"
        ) from error
    return lambda reference, response: float(scorer.compute_score([response], [reference])[0])


def package_score(reference: str, response: str) -> float:
    """RaTEScore, 0 to 1, by its authors' package."""
    return _packaged()(reference, response)


@dataclass(frozen=True)
class RaTEScore:
    """RaTEScore of a sample, 0 to 1, from ``source``: a ``module:function`` of (reference, response) or a
    command. Unscored without an answer."""

    source: str = "components.scorers.ratescore:package_score"
    seconds: float = 60.0
    version: str = "1"

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Raises ConfigError when the source is not installed."""
        reference, answer = str(sample.target["answer"]), trajectory.answer
        if not reference or not answer:
            return [Score(NAME, None)]
        value = measure(self.source, self.seconds)(reference, answer)
        return [Score(NAME, value if math.isfinite(value) else None)]
