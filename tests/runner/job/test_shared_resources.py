"""Resources shared by jobs: slots for samples, and the rule that stops a run whose samples all error."""

import asyncio
import signal
from contextlib import suppress

import pytest

from components.core.errors import ModelError
from components.core.messages import NO_TOOLS, Message, Request, Sampling
from runner.episode.budget import Budget
from runner.experiment.experiment import Experiment
from runner.job.execute import Execution, Outcome
from runner.job.shared_resources import ErrorStreak, Lease, SharedResources, Slots, StopRule
from runner.storage.journal import Journal
from runner.storage.records import RecordWriter, read
from tests.parts import Rows, Speaker, door, parts
from tests.table import each_row


async def test_job_that_started_first_gets_slots_first():
    slots, order = Slots(1), []

    async def play(rank):
        async with Lease(slots, rank, asyncio.Event()):
            order.append(rank)
            await asyncio.sleep(0)

    await asyncio.gather(*(play(rank) for rank in (9, 3, 2, 1)))
    assert order == [9, 1, 2, 3]


async def test_cancelled_waiter_gives_up_its_place():
    slots = Slots(1)
    await slots.take(0)
    waiting = [asyncio.create_task(slots.take(rank)) for rank in (1, 2)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    slots.release()
    await asyncio.wait_for(waiting[1], 1)
    slots.release()
    late = asyncio.create_task(slots.take(3))
    await asyncio.sleep(0)
    assert late.done()


async def test_slot_granted_to_a_cancelled_waiter_is_passed_on():
    slots = Slots(1)
    await slots.take(0)
    first, second = (asyncio.create_task(slots.take(rank)) for rank in (1, 2))
    await asyncio.sleep(0)
    slots.release()
    first.cancel()
    await asyncio.wait_for(second, 1)


async def test_slot_is_free_when_no_job_waits():
    slots = Slots(2)
    await asyncio.wait_for(slots.unused.wait(), 1)
    await slots.take(0)
    await slots.take(0)
    room = asyncio.create_task(slots.unused.wait())
    await asyncio.sleep(0)
    assert not room.done()
    slots.release()
    await asyncio.wait_for(room, 1)


async def test_job_starts_with_its_first_request_for_a_slot():
    lease = Lease(Slots(1), 0, asyncio.Event())
    assert not lease.begun.is_set()
    async with lease:
        assert lease.begun.is_set()


class Dead(Speaker):
    """An endpoint that errors on some samples, of which ``kind`` says why."""

    errs = staticmethod(lambda request: True)
    kind_of_error = "connection"

    async def generate(self, request):
        if self.errs(request):
            raise ModelError("nobody listens", self.kind_of_error)
        return await super().generate(request)


async def run_samples(folder, model, stop_rule, n=60):
    writer, outcome = RecordWriter(folder), Outcome()
    try:
        await Execution(parts(), door(model), writer, outcome, stop_rule=stop_rule).run(Rows(n).load("test"), 1)
    finally:
        writer.close()
    return outcome


def answers(request):
    return f"answer {request.sample_id[1:]}"


async def test_dead_endpoint_is_reported_at_once_and_stops_a_resumable_run(tmp_path, capsys):
    outcome = await run_samples(tmp_path, Dead(answers, max_connections=4), StopRule(0, ErrorStreak(4)))
    assert "run: sample 'q0' errored: connection: nobody listens" in capsys.readouterr().err
    assert 10 <= outcome.errored <= 14
    assert "10 samples errored in a row, more than run.max_error_rate permits" in outcome.halted
    again = await run_samples(tmp_path, Speaker(answers), StopRule(0, ErrorStreak(4)))
    assert (again.halted, len(list(read(tmp_path)))) == (None, 60)


async def test_calls_in_flight_to_a_dead_endpoint_are_not_awaited(tmp_path):
    class Slow(Dead):
        async def generate(self, request):
            await asyncio.sleep(30 * (request.sample_id in ("q3", "q7")))
            return await super().generate(request)

    async with asyncio.timeout(10):
        outcome = await run_samples(tmp_path, Slow(answers, max_connections=4), StopRule(0, ErrorStreak(4)))
    assert outcome.halted and {"q3", "q7"}.isdisjoint(record["sample_id"] for record in read(tmp_path))


async def test_errors_of_single_samples_do_not_stop_the_run(tmp_path):
    model = Dead(answers, max_connections=1)
    model.errs = lambda request: int(request.sample_id[1:]) % 10 > 0
    outcome = await run_samples(tmp_path, model, StopRule(0, ErrorStreak(5)))
    assert (outcome.halted, outcome.errored, outcome.finished) == (None, 54, 60)


async def test_permitted_error_rate_runs_all_samples(tmp_path):
    outcome = await run_samples(tmp_path, Dead(answers, max_connections=4), StopRule(60, ErrorStreak(4)))
    assert (outcome.halted, outcome.errored) == (None, 60)


def errored(kind):
    return {"stop": "error", "error": f"{kind}: why"}


def test_endpoint_that_answered_before_is_allowed_a_longer_error_streak():
    stop_rule = StopRule(0, ErrorStreak(50))
    assert stop_rule.reason_after({"stop": "answered", "error": None}, 0) is None
    reasons = [stop_rule.reason_after(errored("timeout"), n + 1) for n in range(100)]
    assert reasons[:99] == [None] * 99 and reasons[99]


def test_too_long_samples_do_not_stop_the_run():
    stop_rule = StopRule(0, ErrorStreak(4))
    assert not any(stop_rule.reason_after(errored("context_window"), n + 1) for n in range(100))


@each_row("kind, stops", [("connection", True), ("bug", False), ("bad_request", False)])
def test_only_endpoint_errors_stop_other_jobs_of_the_model(kind, stops):
    shared = ErrorStreak(4)
    first, second = StopRule(0, shared), StopRule(0, shared)
    assert [bool(first.reason_after(errored(kind), n + 1)) for n in range(10)] == [False] * 9 + [True]
    assert bool(second.reason_after(errored(kind), 1)) is stops


async def test_journal_segments_of_killed_processes_are_reported_once(tmp_path, capsys):
    journal = Journal(tmp_path)
    journal.put(bytes(32), b"{}")
    del journal  # without closing, as when its process is killed
    cfg = {"run": {"replay": False, "journal": str(tmp_path)}}
    experiment = Experiment("one", 0, 1, parts(), {}, Rows(), [], Budget(), cfg, {}, {})
    for _ in range(2):
        async with SharedResources(Budget()) as resources:
            resources.door(experiment)
    assert capsys.readouterr().err == f"note: the journal {tmp_path}: segments of killed processes, now sealed: 1\n"


def test_ctrl_c_names_the_calls_in_flight_then_not_those_that_budgets_cut_before(capsys):
    async def work():
        ask = Request((Message("user", "?"),), NO_TOOLS, Sampling(), "act", "main", "s", 0, "main", 0, 7)
        async with SharedResources(Budget()) as resources:
            slow = door(Speaker(lambda _: "late", wait=1e9), budget_pool=resources._budget_pool)
            for n in range(3):
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.001):
                        await slow.call("main", ask, bytes([n]), 0)
            calls = [asyncio.create_task(slow.call("main", ask, bytes([n]), 0)) for n in (7, 8)]
            await asyncio.sleep(0)
            signal.raise_signal(signal.SIGINT)
            await asyncio.gather(*calls)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())
    assert capsys.readouterr().err == (
        "stopping; finished calls are kept, 2 calls in flight are cut; Ctrl-C again stops at once\n"
    )
