"""Execution: order and concurrency never change a record; resume runs only what is missing."""

import asyncio
import json
import time
from dataclasses import dataclass

import pytest

from components.core.errors import ConfigError, ModelError
from components.core.messages import Message, Usage
from components.core.traits import ScorerTraits, ToolsetTraits
from components.core.types import Problem, Score, Step, Trajectory
from runner.config.schema import read_shard
from runner.episode.budget import Budget
from runner.experiment.experiment import select
from runner.job.execute import Execution, Outcome, wait_for_all
from runner.storage.journal import Journal
from runner.storage.records import RecordWriter, read
from tests.parts import Kit, Rows, Speaker, door, parts
from tests.slow import slow
from tests.table import each_row

TIMES = ("seconds", "started")


def timeless(value):
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k not in TIMES}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def records(folder):
    found = sorted((timeless(r) for r in read(folder)), key=lambda r: (r["sample_id"], r["epoch"]))
    return json.dumps(found, indent=1)


def say(request):
    if len(request.messages) < 5:
        return f'call count {{"n": {request.seed % 9}}}'
    return f"answer {request.sample_id[1:]}"


async def run(folder, model, samples=None, epochs=1, experiment=None, **changes):
    writer = RecordWriter(folder)
    outcome = Outcome()
    try:
        execution = Execution(experiment or parts(), door(model, **changes), writer, outcome)
        await execution.run(samples or Rows().load("test"), epochs)
        return outcome
    finally:
        writer.close()


async def test_concurrent_runs_write_the_records_of_a_serial_run(tmp_path):
    await run(tmp_path / "serial", Speaker(say, max_connections=1), epochs=2)
    await run(tmp_path / "mixed", Speaker(say, max_connections=8, wait=0.01), epochs=2)
    assert records(tmp_path / "serial") == records(tmp_path / "mixed")
    assert records(tmp_path / "serial").count('"sample_id"') == 12


async def test_a_toolset_prepares_for_what_remains_and_not_for_a_replay(tmp_path):
    class Prepared(Kit):
        prepared = 0

        @property
        def traits(self):
            return ToolsetTraits(prepare=self.prepare)

        def prepare(self, samples):
            self.prepared += len(samples)

    experiment, counts = parts(toolset=Prepared()), []
    with Journal(tmp_path / "journal") as journal:
        for folder, replay in (("run", False), ("run", False), ("again", True)):
            await run(tmp_path / folder, Speaker(say), experiment=experiment, journal=journal, replay=replay)
            counts.append(experiment.toolset.prepared)
    assert counts == [6, 6, 6]


async def test_no_more_samples_are_open_than_connections(tmp_path):
    open_now, most = 0, 0

    class Counting(Speaker):
        async def generate(self, request):
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            try:
                return await super().generate(request)
            finally:
                open_now -= 1

    await run(tmp_path, Counting(say, max_connections=3, wait=0.005), Rows(20).load("test"))
    assert most == 3


async def test_resume_runs_only_missing_or_errored_samples(tmp_path):
    class Flaky(Speaker):
        async def generate(self, request):
            if request.sample_id in ("q1", "q4"):
                raise ModelError("down", "server")
            return await super().generate(request)

    first = await run(tmp_path, Flaky(say))
    assert first.error_rate == pytest.approx(2 / 6) and first.n_run == 6
    model = Speaker(say)
    second = await run(tmp_path, model)
    assert second.n_run == 2 and second.error_rate == 0
    assert {r.sample_id for r in model.asked} == {"q1", "q4"}
    assert sorted(r["sample_id"] for r in read(tmp_path)) == [f"q{n}" for n in range(6)]
    third = await run(tmp_path, model)
    assert third.n_run == 0 and third.finished == 6


async def test_the_log_has_the_trace_of_each_bug_once(tmp_path, caplog):
    outcome = await run(tmp_path, Speaker(lambda request: [][0]))
    assert len(caplog.messages) == 1 and ", in <lambda>" in caplog.text and outcome.errored == 6


async def test_spent_run_budget_leaves_complete_records_and_is_reported(tmp_path):
    outcome = await run(tmp_path, Speaker(say, max_connections=1), budget=Budget(calls=7))
    assert outcome.stopped == "budget.run.calls=7 is reached"
    assert len(list(read(tmp_path))) == 2
    assert all(r["stop"] == "answered" for r in read(tmp_path))


@slow
async def test_cancelling_keeps_finished_records_and_the_journal(tmp_path):
    with Journal(tmp_path / "journal") as journal:
        model = Speaker(say, max_connections=2, wait=0.02)
        task = asyncio.create_task(run(tmp_path / "run", model, Rows(40).load("test"), journal=journal))
        while len(model.asked) < 30:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        before = len(model.asked)
        await run(tmp_path / "run", model, Rows(40).load("test"), journal=journal)
        assert len(model.asked) <= 40 * 3 + 2, "only the calls in flight were repeated"
        assert before < len(model.asked)
    assert len(list(read(tmp_path / "run"))) == 40


@dataclass
class SlowScorer:
    """Slower than the model replies."""

    traits = ScorerTraits(names=("score/slow",))

    def score(self, sample, trajectory):
        time.sleep(0.01)
        return [Score("score/slow", 1.0)]


async def test_solved_samples_are_scored_and_kept_when_the_run_is_cancelled(tmp_path):
    model = Speaker(say, max_connections=8)
    slow = parts(scorers={"slow": SlowScorer()})
    task = asyncio.create_task(run(tmp_path, model, Rows(200).load("test"), experiment=slow))
    while not (tmp_path / "records.jsonl").exists() or not (written := list(read(tmp_path))):
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    replied = sum(len(request.messages) == 5 for request in model.asked)  # the last call of a sample
    kept = list(read(tmp_path))
    assert replied - 8 <= len(kept) <= replied and len(kept) > len(written)
    assert all(record["scores"] == {"score/slow": 1.0} for record in kept)


async def test_an_interrupt_does_not_reach_what_is_waited_for_at_the_end():
    scores_are_written = asyncio.Event()
    scoring = asyncio.create_task(scores_are_written.wait())
    waiting = asyncio.create_task(wait_for_all(scoring))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.sleep(0)
    assert not waiting.done() and not scoring.done()
    scores_are_written.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert scoring.result() is True


async def test_scorers_that_block_work_at_several_samples_at_once(tmp_path):
    at_once = []

    class Blocking:
        traits = ScorerTraits(names=("score/blocking",), blocking=True)

        def score(self, sample, trajectory):
            at_once.append(sample.problem.id)
            waited = time.monotonic() + 5
            while len(at_once) < 4 and time.monotonic() < waited:
                time.sleep(0.001)
            return [Score("score/blocking", float(len(at_once) >= 4))]

    blocking = parts(scorers={"blocking": Blocking()})
    await run(tmp_path, Speaker(say, max_connections=4), Rows(4).load("test"), experiment=blocking)
    assert [record["scores"]["score/blocking"] for record in read(tmp_path)] == [1.0] * 4


async def test_a_refused_judge_ends_the_run(tmp_path):
    class Judge:
        traits = ScorerTraits(names=("judged",), asks="judge")

        async def consult(self, sample, trajectory, scores, episode):
            raise ConfigError("nothing listens at the judge's address")

        def score(self, sample, trajectory):
            raise AssertionError("it was never asked")

    with pytest.raises(ConfigError, match="nothing listens"):
        await run(tmp_path, Speaker(say), experiment=parts(scorers={"judge": Judge()}))
    assert list(read(tmp_path)) == []


async def test_number_of_samples_waiting_for_a_score_is_bounded(tmp_path):
    model = Speaker(say, max_connections=4)
    slow = parts(scorers={"slow": SlowScorer()})
    task = asyncio.create_task(run(tmp_path, model, Rows(200).load("test"), experiment=slow))
    while not model.asked or len(list(read(tmp_path))) < 3:
        await asyncio.sleep(0.001)
    replied = sum(len(request.messages) == 5 for request in model.asked)
    assert replied <= len(list(read(tmp_path))) + 1 + 3 * 4  # being scored, waiting with room, waiting for room
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_limit_is_a_seeded_draw_in_dataset_order():
    data = Rows(50)
    drawn = [s.problem.id for s in select(data, limit=10, shard=None, seed=3)]
    assert drawn == [s.problem.id for s in select(data, limit=10, shard=None, seed=3)]
    assert drawn != [s.problem.id for s in select(data, limit=10, shard=None, seed=4)]
    assert [int(i[1:]) for i in drawn] == sorted(int(i[1:]) for i in drawn)


def test_shards_are_disjoint_and_cover_the_dataset():
    shards = [[s.problem.id for s in select(Rows(11), limit=9, shard=f"{i}/4", seed=0)] for i in range(1, 5)]
    whole = [s.problem.id for s in select(Rows(11), limit=9, shard=None, seed=0)]
    assert sorted(id for shard in shards for id in shard) == sorted(whole) and sum(map(len, shards)) == 9


@each_row("shard", ["0/4", "5/4", "1", "a/b", "1/0", "-1/2"])
def test_invalid_shard_is_refused(shard):
    with pytest.raises(ConfigError, match="expected i/n"):
        read_shard(shard)


def test_empty_selection_and_unknown_split_are_refused():
    with pytest.raises(ConfigError, match="no sample is left"):
        select(Rows(2), limit=None, shard="3/3", seed=0)
    with pytest.raises(ConfigError, match=r"dataset\.split='dev': this dataset has test"):
        select(Rows(2, split="dev"), limit=None, shard=None, seed=0)


CHOICE = Problem("a", "Which?", {"A": "first one", "B": "second one"})


@each_row("texts, expected", [
    (["Which?\nA) first one\nB) second one"], True),
    (["Which?", "A) first one", "B) second one"], False),
    (["Which?"], False),
    ([], None),
])  # fmt: skip
def test_a_run_notices_whether_a_message_held_the_options(texts, expected):
    outcome = Outcome()
    steps = [
        Step("act", "main", "main", 0, 0, (Message("user", text),), Message("assistant", "A"), Usage(1, 1, 0.0))
        for text in texts
    ]
    outcome.look_for_options(Problem("open", "What?"), Trajectory(steps))
    assert outcome.shows_options is None
    outcome.look_for_options(CHOICE, Trajectory(steps))
    assert outcome.shows_options is expected
    if expected:
        outcome.look_for_options(CHOICE, Trajectory([*steps[:1]]))
        assert outcome.shows_options, "one message is enough"
