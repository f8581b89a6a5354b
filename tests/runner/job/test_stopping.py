"""A run whose samples all error stops by itself; one bad sample stops nothing."""

import asyncio

import pytest

from components.core.errors import ModelError
from runner.job.execute import Outcome, execute
from runner.job.shared_resources import ErrorStreak, StopRule
from runner.storage.records import RecordWriter, read
from tests.parts import Rows, Speaker, door, parts


class Dead(Speaker):
    """An endpoint that errors on some samples, of which ``kind`` says why."""

    errs = staticmethod(lambda request: True)
    kind_of_error = "connection"

    async def generate(self, request):
        if self.errs(request):
            raise ModelError("nobody listens", self.kind_of_error)
        return await super().generate(request)


async def played(folder, model, stop_rule, n=60):
    writer, outcome = RecordWriter(folder), Outcome()
    try:
        await execute(parts(), door(model), Rows(n).load("test"), 1, writer, outcome, stop_rule=stop_rule)
    finally:
        writer.close()
    return outcome


def answers(request):
    return f"answer {request.sample_id[1:]}"


async def test_a_dead_endpoint_is_told_at_once_and_stops_the_run_which_goes_on_later(tmp_path, capsys):
    outcome = await played(tmp_path, Dead(answers, max_connections=4), StopRule(0, ErrorStreak(4)))
    assert "run: sample 'q0' errored: connection: nobody listens" in capsys.readouterr().err
    assert 10 <= outcome.errored <= 14
    assert "10 samples errored one after the other, more than run.max_error_rate permits" in outcome.halted
    again = await played(tmp_path, Speaker(answers), StopRule(0, ErrorStreak(4)))
    assert (again.halted, len(list(read(tmp_path)))) == (None, 60)


async def test_what_is_on_its_way_to_nobody_is_not_waited_for(tmp_path):
    class Slow(Dead):
        async def generate(self, request):
            await asyncio.sleep(30 * (request.sample_id in ("q3", "q7")))
            return await super().generate(request)

    async with asyncio.timeout(10):
        outcome = await played(tmp_path, Slow(answers, max_connections=4), StopRule(0, ErrorStreak(4)))
    assert outcome.halted and {"q3", "q7"}.isdisjoint(record["sample_id"] for record in outcome.records)


async def test_samples_that_error_by_themselves_stop_nothing(tmp_path):
    model = Dead(answers, max_connections=1)
    model.errs = lambda request: int(request.sample_id[1:]) % 10 > 0
    outcome = await played(tmp_path, model, StopRule(0, ErrorStreak(5)))
    assert (outcome.halted, outcome.errored, len(outcome.records)) == (None, 54, 60)


async def test_what_is_permitted_is_played(tmp_path):
    outcome = await played(tmp_path, Dead(answers, max_connections=4), StopRule(60, ErrorStreak(4)))
    assert (outcome.halted, outcome.errored) == (None, 60)


def errored(kind):
    return {"stop": "error", "error": f"{kind}: why"}


def test_an_endpoint_that_was_there_is_waited_for_longer():
    stop_rule = StopRule(0, ErrorStreak(50))
    assert stop_rule.reason_after({"stop": "answered", "error": None}, 0) is None
    told = [stop_rule.reason_after(errored("timeout"), n + 1) for n in range(100)]
    assert told[:99] == [None] * 99 and told[99]


def test_samples_that_are_too_long_stop_nothing():
    stop_rule = StopRule(0, ErrorStreak(4))
    assert not any(stop_rule.reason_after(errored("context_window"), n + 1) for n in range(100))


@pytest.mark.parametrize(("kind", "stops"), [("connection", True), ("bug", False), ("bad_request", False)])
def test_only_errors_of_the_endpoint_tell_the_other_jobs_of_its_model(kind, stops):
    shared = ErrorStreak(4)
    first, second = StopRule(0, shared), StopRule(0, shared)
    assert [bool(first.reason_after(errored(kind), n + 1)) for n in range(10)] == [False] * 9 + [True]
    assert bool(second.reason_after(errored(kind), 1)) is stops
