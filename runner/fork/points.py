"""Where recorded episodes can be continued: they are rebuilt whole, without a model, and compared at every step."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from components.core.errors import ConfigError, ModelError
from components.core.plain import Accept
from components.core.task_text import action_text
from components.core.types import Sample, Step, Trajectory, Verdict
from runner.config.errors import nearest
from runner.episode.door import Door
from runner.episode.ending import before_judging
from runner.episode.episode import record_errors, solve
from runner.episode.prefix import ANY, KIND, EndOfRecord, Prefix, last_calls
from runner.episode.shared import Parts, Shared
from runner.experiment.experiment import Experiment
from runner.fork.request import Arm, Choices
from runner.job.stored import with_samples
from runner.results.runs import Run
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader

_SHOWN = 160  # characters of what was done at a step
_BAD_RECORD = (KeyError, TypeError, ValueError, IndexError, AttributeError)


@dataclass(frozen=True)
class Recorded:
    """An episode of the run. ``steps``: without those of scorers; ``score``: how right it was."""

    sample: Sample
    epoch: int
    steps: Sequence[Step]
    score: float | None

    @property
    def name(self) -> str:
        """Its sample, and its epoch where it is not the first."""
        return self.sample.problem.id + (f" (epoch {self.epoch})" if self.epoch else "")


@dataclass(frozen=True)
class Point:
    """A decision of an agent: the ``step``-th, from 1; ``call``: how many calls came before; ``did``: what the record
    has of it."""

    step: int
    call: int
    did: str


def recorded_episodes(run: Run, experiment: Experiment, choices: Choices) -> list[Recorded]:
    """The requested episodes, in the order of the samples. Raises ConfigError for a damaged record, and if there are
    none."""
    order = {sample.problem.id: n for n, sample in enumerate(experiment.samples)}
    named = choices.samples if not isinstance(choices.samples, str) else None
    if named is not None and (unknown := next((one for one in named if str(one) not in order), None)):
        raise ConfigError(f"fork.samples: {unknown!r} is not a sample of {run.folder}; {nearest(str(unknown), order)}")
    if choices.at == "verifier_disagrees" and isinstance(experiment.parts.verifier, Accept):
        raise ConfigError(
            f"fork.at={choices.at}: {run.folder} has no verifier that can disagree, it accepts every action"
        )
    unpacker, found = Unpacker(TextReader(run.folder)), dict[tuple[str, int], Recorded]()
    for record, sample in with_samples(run.folder, experiment):
        failed = choices.samples == "failed" and not _failed(record, run)
        if record["stop"] == "error" or failed or (named is not None and record["sample_id"] not in map(str, named)):
            continue
        try:
            steps = before_judging(unpacker.trajectory(record)).steps
            _check(steps, key := (sample.problem.id, record["epoch"]), found)
        except _BAD_RECORD as error:
            what = f"{type(error).__name__}: {error}"
            raise ConfigError(
                f"{run.folder}: the record of {record['sample_id']!r:.80} is damaged ({what:.80})"
            ) from None
        found[key] = Recorded(sample, record["epoch"], steps, record["scores"].get(run.headline or ""))
    if not found:
        raise ConfigError(f"fork.samples={choices.samples}: {run.folder} has no such episode; use fork.samples=all")
    return sorted(found.values(), key=lambda one: (order[one.sample.problem.id], one.epoch))


def _failed(record: Record, run: Run) -> bool:
    """Whether an episode was not as right as it could be, or ended by a limit or a failure of its method."""
    score, is_low = run.headline or "", run.better(run.headline or "") == "lower"
    value, right = record["scores"].get(score), (record.get("ceilings") or {}).get(score, 0.0 if is_low else 1.0)
    return record["stop"] in ("limit", "failed") if value is None else (value > right if is_low else value < right)


def _check(steps: Sequence[Step], key: tuple[str, object], found: Collection[object]) -> None:
    """Raises ValueError for an episode (sample, epoch) and steps that no run wrote."""
    if not isinstance(key[1], int) or key[1] < 0 or key in found:
        raise ValueError(f"its epoch {key[1]!r:.20} is invalid or duplicated")
    if len({(step.branch, step.index) for step in steps}) < len(steps):
        raise ValueError("two of its calls have the same place")
    for step in steps:
        numbers: Sequence[object] = (step.index, step.kept, *(one or 0 for one in step.usage))
        texts: Sequence[object] = [one.content for one in (step.reply, *step.asked)]
        if not all(isinstance(one, int | float) and one >= 0 for one in numbers):
            raise ValueError(f"a number of call {step.index!r:.20} of {step.branch!r:.40} is invalid")
        if not all(isinstance(one, str | tuple) for one in texts):
            raise ValueError(f"a message of call {step.index!r:.20} of {step.branch!r:.40} has no text")


async def walk(parts: Parts, run: Experiment, one: Recorded, prefix: Prefix) -> str:
    """Rebuild an episode as far as it goes; ``prefix`` then has its decisions. Returns why it went no further, empty
    where the record ended."""
    door, trajectory = Door(run.models, None, run_seed=run.seed, replay=True), Trajectory()
    with record_errors(trajectory):
        try:
            await solve(Shared(parts, door, one.sample, one.epoch, trajectory, fork=prefix))
        except EndOfRecord:
            return ""
        except ModelError as error:
            if error.kind == KIND:
                return str(error)
            raise
    if trajectory.stop == "error":
        prefix.sound = 0
        return (trajectory.error or "").strip().splitlines()[-1]
    return ""


def points_of(prefix: Prefix) -> list[Point]:
    """The decisions of a repeated episode whose beginning equals the record, in the order of the record."""
    calls = sorted(set(prefix.decisions))
    ends = [*calls[1:], len(prefix.steps)]
    spans = [(call, prefix.steps[call:end]) for call, end in zip(calls, ends, strict=True)]
    points = [Point(n, call, _done(span)) for n, (call, span) in enumerate(spans, 1)]
    return [point for point in points if point.call < prefix.sound]


def _done(span: Sequence[Step]) -> str:
    """What a decision came to: its action, else its reply."""
    taken = next((step for step in span if step.acts and step.action is not None), span[0])
    text = taken.reply.text if taken.action is None else action_text(taken.action)
    return f"{taken.purpose}: {' '.join(text.split())}"[:_SHOWN]


def chosen(points: Sequence[Point], steps: Sequence[Step], at: str | int) -> list[Point]:
    """Those of an episode's points that ``fork.at`` names."""
    if at == "each":
        return list(points)
    if isinstance(at, int):
        return [point for point in points if point.step == at]
    ends = [point.call for point in points[1:]] + [len(steps)]
    spans = [(point, steps[point.call : end]) for point, end in zip(points, ends, strict=True)]
    if at == "first_error":
        return [point for point, span in spans if any(map(_erred, span))][:1]
    return [point for point, span in spans if _disagreed(span)]


def _erred(step: Step) -> bool:
    """Whether an action could not be read, or a tool failed."""
    unread = step.action is not None and step.action.error is not None
    return step.committed and (unread or any(one.error for one in step.observed))


def _disagreed(span: Sequence[Step]) -> bool:
    """Whether the verifier took another proposal than the first."""
    verdicts = [step.verdict for step in span if isinstance(step.verdict, Verdict)]
    if verdicts:
        return any(one.chosen > 1 for one in verdicts)
    return any(step.purpose == "act" and not step.committed for step in span)


def points_for_arm(
    points: Sequence[Point], every: Sequence[Point], steps: Sequence[Step], arm: Arm, hands_over: bool
) -> Iterator[Point]:
    """Those at which an intervention can be made, of ``every`` point: another agent on the main line only, a result
    where the step before called the tool."""
    calls = {point.step: point.call for point in every}
    for point in points:
        last = last_calls(steps[: point.call])
        names: Mapping[str, str] = arm.result
        called = {ANY, *(one.call.name for one in steps[last].observed)} if last is not None else set()
        before = calls.get(point.step - 1, 0)
        has_result = not names or (last is not None and last >= before and not called.isdisjoint(names))
        if has_result and (not hands_over or steps[point.call].branch == "main"):
            yield point
