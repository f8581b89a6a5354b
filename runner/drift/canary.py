"""A canary set: samples of recorded runs that are repeated again and again, with the answers of each repetition. Its
folder holds ``canary.json`` (samples and settings), ``askings.json`` (answers: the baseline first, then the checks) and
a run folder per repetition. Both files are replaced atomically; a repetition counts when it is in the second."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from math import log1p
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt

from components.core.errors import ConfigError
from components.core.moved import renew
from components.core.score_names import LARGEST
from components.core.traits import SourceTraits, declared
from runner.config import build as builder
from runner.config.changes import set_value
from runner.config.errors import ConfigErrors
from runner.config.schema import Settings
from runner.experiment.experiment import Experiment, Launch, facts_of
from runner.job.exit_codes import COMPLETE, ERRORS
from runner.job.prepare import Job, check
from runner.job.task import Task, run_alone
from runner.learning.folders import find_recorded
from runner.learning.lesson import refuse_lost
from runner.results.rows import rows_of
from runner.results.runs import Run
from runner.storage import disk, manifest
from runner.storage.records import read
from runner.storage.resume import refuse_changes
from runner.storage.schema import Record
from runner.terminal.command import print_note

FILE, ASKINGS = "canary.json", "askings.json"
FEWEST, MOST = 30, 100
_RUN = {"journal": None, "replay": False, "resume": None, "shard": None, "shards": None, "preflight": False}
_FOLDER = "askings/{:04}"
Number = Annotated[float, Ge(-LARGEST), Le(LARGEST)]
_MODELS = ("model", "models")  # what a check may be asked to change


@dataclass(frozen=True)
class Answered:
    """What ``askings.json`` has of an answer."""

    score: Number | None
    answer: str | None
    length: Number | None
    calls: int
    tools: str
    ending: str
    text: str | None


@dataclass(frozen=True)
class Asked:
    """What ``askings.json`` has of an asking."""

    time: str
    folder: str
    changed: Mapping[str, Any]
    answered_by: Sequence[str]
    answers: Mapping[str, Answered]


@dataclass(frozen=True)
class Checked(Asked):
    """What it has of one after the baseline."""

    p: Annotated[float, Gt(0), Le(1)]
    signals: Mapping[Literal["score", "length", "calls", "answer", "tools", "ending"], Annotated[float, Gt(0), Le(1)]]


@dataclass(frozen=True)
class Canary:
    """``headline``: the score that is watched; ``repeats``: askings of the baseline; ``askings``: those so far."""

    folder: Path
    source: str
    cfg: Mapping[str, Any]
    choices: Mapping[str, Any]
    samples: Sequence[str]
    headline: str
    repeats: Annotated[int, Ge(2)]
    alpha: Annotated[float, Gt(0), Lt(1)]
    askings: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path) -> "Canary":
        """The canary of a folder. Raises ConfigError."""
        path = folder / FILE
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
            canary = builder.check(cls, {**facts, "folder": str(folder), "askings": []})
            path = folder / ASKINGS
            askings = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(askings, list):
                raise TypeError("it is not a list")
            for n, one in enumerate(askings):
                builder.check(Asked if n < canary.repeats else Checked, {**one}, f"[{n}]")
            canary = replace(canary, askings=askings)
            for n, one in enumerate(canary.baseline):
                if lack := canary.lack(one):
                    raise ValueError(f"[{n}].answers: {lack}")
            return canary
        except FileNotFoundError:
            raise ConfigError(
                f"{folder} is not a canary set: it has no {path.name}; runner.drift init makes one"
            ) from None
        except (ValueError, TypeError, ConfigErrors) as error:
            why = str(error).splitlines()[0]
            raise ConfigError(f"{path} is damaged ({why}): restore it from a copy, or make another set") from None

    @property
    def baseline(self) -> list[dict[str, Any]]:
        """The first askings."""
        return self.askings[: self.repeats]

    @property
    def checks(self) -> list[dict[str, Any]]:
        """The askings after the baseline."""
        return self.askings[self.repeats :]

    def compared(self, asking: dict[str, Any]) -> int:
        """How many samples of an asking have an answer of the baseline too."""
        before = {name for one in self.baseline or [asking] for name in one["answers"]}
        return sum(name in before and name in asking["answers"] for name in self.samples)

    def lack(self, asking: dict[str, Any]) -> str:
        """Why nothing can be concluded of an asking; empty where half of the samples or more can be compared."""
        n, of = self.compared(asking), len(self.samples)
        return "" if 2 * n >= of else f"{n} of {of} samples have answers to compare, and half of them are needed"

    def write(self) -> None:
        """Write both files, that of the askings first: with the other one the folder is a canary's."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.write_askings()
        facts = {name: value for name, value in vars(self).items() if name not in ("folder", "askings")}
        disk.replace(self.folder / FILE, json.dumps(facts, indent=1, ensure_ascii=False, default=str) + "\n")

    def write_askings(self) -> None:
        """Replace the file of the askings."""
        disk.replace(self.folder / ASKINGS, json.dumps(self.askings, ensure_ascii=False) + "\n")

    def ask(self, changes: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """Ask all samples once, without the journal; if an earlier attempt stopped early, only the missing ones.
        Returns the job's exit code (that of errors for too few answers) and the answers. Raises ConfigError if data,
        prompts, scorers or settings have changed."""
        number = len(self.askings)
        folder = self.folder / _FOLDER.format(number)
        experiment = self.experiment(number, changes)
        if number:
            first = self.folder / _FOLDER.format(0)
            if "identities" not in (begun := manifest.read(first)):
                raise ConfigError(f"{first} has no complete {manifest.FILE}: restore it, or make another canary set")
            manifest.refuse_others(first, facts_of(experiment) | {"identities": begun["identities"]})
        try:
            refuse_changes(folder, experiment.cfg)
        except ConfigError as error:
            print_note(f"discarded, unfinished: {error}")
            rmtree(folder)
        code = Task().run(run_alone(Job(experiment, folder)))
        notes = manifest.read(folder)
        names = [name for one in notes["sessions"] for of in one["answered_by"].values() for name in of]
        asking = {
            "time": notes["start"],
            "folder": str(folder.relative_to(self.folder)),
            "changed": dict(changes),
            "answered_by": sorted(set(names)),
            "answers": {
                one["sample_id"]: _values(one, self.headline) for one in read(folder) if one["stop"] != "error"
            },
        }
        if code == COMPLETE and (lack := self.lack(asking)):
            print_note(lack)
            code = ERRORS
        return code, asking

    def _label(self, number: int) -> str:
        return f"repeat {number + 1}" if number < self.repeats else f"check {number - self.repeats + 1}"

    def experiment(self, number: int, changes: Mapping[str, Any]) -> Experiment:
        """The recorded experiment on these samples, with a new seed for each repetition, so that repetitions differ as
        repeats do. Raises ConfigError for a run that cannot be repeated."""
        cfg = deepcopy({**self.cfg, "seed": builder.check(Settings, self.cfg, FILE).seed + number})
        for key, value in changes.items():
            set_value(cfg, key, value)
        experiment = check(cfg, Launch(self.choices, sweep=str(self.folder), label=self._label(number)))
        if experiment.source is not None and declared(experiment.source, SourceTraits).grows:
            name = self.choices.get("memory", type(experiment.source).__name__)
            raise ConfigError(
                f"memory={name} grows from sample to sample, so that no answer stands alone: watch a run of"
                " an agent whose memory does not (memory.update=none)"
            )
        refuse_lost(experiment, Path(self.source))
        known = {sample.problem.id: sample for sample in experiment.samples}
        if lost := [name for name in self.samples if name not in known]:
            raise ConfigError(f"sample {lost[0]!r} is no longer in the dataset: make another canary set")
        return replace(experiment, samples=[known[name] for name in self.samples])


def begin(runs: Sequence[Run], folder: Path, samples: int, repeats: int, alpha: float) -> Canary:
    """The canary set of recorded runs of the same settings, without any asking yet. Raises ConfigError."""
    if not FEWEST <= samples <= MOST or repeats < 2 or not 0 < alpha < 1:
        raise ConfigError(
            f"--samples {samples} --repeats {repeats} --alpha {alpha}: expected {FEWEST} to {MOST} samples, two repeats"
            " or more, and an alpha between 0 and 1"
        )
    first = runs[0]
    settings = [{**one.same, "seed": None, "epochs": None, "data": one.data} for one in runs]
    if any(one != settings[0] for one in settings):
        labels = ", ".join(row.label for row in rows_of(runs))
        raise ConfigError(f"a canary set watches one method on one dataset, and these runs are of several: {labels}")
    if first.headline is None:
        raise ConfigError(f"{first.folder} has no scores, so right and wrong answers cannot be distinguished")
    cfg = renew(first.cfg)
    memory = cfg.get("memory")
    if (learnt := find_recorded(cfg, first.folder, first.manifest.get("memory"))) is not None:  # not of another seed
        memory = {**cfg["memory"], "path": str(learnt.resolve())}
    cfg = {**cfg, "name": f"{cfg['name']}-drift"[:100], "limit": None, "epochs": 1, "memory": memory, "compare": {},
           "protocol": None, "run": {**cfg["run"], **_RUN}}  # fmt: skip
    chosen = choose([record for run in runs for record in run.records], first.headline, samples, first.cfg["seed"])
    return Canary(folder, str(first.folder), cfg, dict(first.choices), chosen, first.headline, repeats, alpha)


def choose(records: Sequence[Record], headline: str, n: int, seed: int) -> list[str]:
    """Ids of up to n samples, the most informative ones: each next one is near the middle of right and wrong over its
    repeats, on the side that has fewer so far, in strata that have few so far. Raises ConfigError for too few."""
    scores: dict[str, list[float]] = {}
    strata: dict[str, list[tuple[str, str]]] = {}
    for record in records:
        if record["stop"] != "error" and (value := record["scores"].get(headline)) is not None:
            scores.setdefault(record["sample_id"], []).append(value)
            strata[record["sample_id"]] = [*record["strata"].items()]
    if len(scores) < FEWEST:
        raise ConfigError(f"{len(scores)} samples have a {headline}, and a canary set needs {FEWEST}: name more runs")
    means = {name: sum(values) / len(values) for name, values in scores.items()}
    low, high = min(map(min, scores.values())), max(map(max, scores.values()))
    left = sorted(means)
    Random(f"{seed}/canary").shuffle(left)
    sides, groups, chosen = Counter[bool](), Counter[tuple[str, str]](), list[str]()

    def cost(name: str) -> float:
        off = abs(2 * (means[name] - low) / ((high - low) or 1.0) - 1)
        crowd = sum(groups[one] for one in strata[name]) / max(1, len(strata[name]))
        return off + (sides[means[name] > (low + high) / 2] + crowd) / n

    while left and len(chosen) < n:
        chosen.append(name := min(left, key=cost))
        left.remove(name)
        sides[means[name] > (low + high) / 2] += 1
        groups.update(strata[name])
    return sorted(chosen)


def changes_of(words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Settings of the model that a check changes, as KEY=VALUE. Raises ConfigError for others."""
    from components.text.structured import parse

    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key.partition(".")[0] not in _MODELS or "." not in key:
            raise ConfigError(f"{word}: a check can only change settings of the model, such as model.name=NAME")
        yield key, parse(value)


def _values(record: Record, headline: str) -> dict[str, Any]:
    """What is compared of an answer, by signal, and the answer's text. The length is the logarithm of the tokens of all
    replies, where the endpoint counts them."""
    tokens, answer = record["usage"]["output_tokens"], record["answer"]
    calls = [call[1] for step in record["steps"] for call in step.get("action", {}).get("calls", ())]
    return {
        "score": record["scores"].get(headline),
        "answer": None if answer is None else " ".join(answer.casefold().split()),
        "length": None if tokens is None else log1p(tokens),
        "calls": len(calls),
        "tools": " ".join(calls),
        "ending": "refused" if record["refusal"] is not None else record["stop"],
        "text": answer,
    }
