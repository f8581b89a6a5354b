"""The journal behind the door: paid calls, repeats, replay, single-flight and the run's budget."""

import asyncio
from errno import ENOSPC
from pathlib import Path
from random import Random

import pytest

from components.core.errors import OVERFLOW, ConfigError, ModelError, RunLimitReached
from components.core.messages import Message, Sampling
from components.core.types import Answer
from runner.episode.budget import Budget, BudgetPool
from runner.episode.door import Door
from runner.episode.episode import run_episode
from runner.storage.disk import Unwritable
from runner.storage.journal import Journal
from tests.parts import Rows, Speaker, door, parts

SAMPLES = Rows().load("test")


class Twice:
    """Asks the same thing twice."""

    async def solve(self, episode):
        ask = [Message("user", episode.problem.question, source="set/ask.jinja")]
        first = await episode.ask(ask, "answer")
        second = await episode.ask(ask, "answer")
        return Answer(first.text + second.text)


def draw(request):
    return str(request.seed)


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal") as opened:
        yield opened


async def solve(model, journal, agent=None, sample=SAMPLES[0], epoch=0, **changes):
    return (await run_episode(parts(agent or Twice()), door(model, journal, **changes), sample, epoch))[0]


async def test_finished_call_is_never_repeated(journal):
    model = Speaker(draw)
    first = await solve(model, journal)
    again = await solve(model, journal)
    assert len(model.asked) == 2
    assert again.answer == first.answer and all(step.replayed for step in again.steps)
    assert [s.usage for s in again.steps] == [s.usage for s in first.steps]


async def test_repeats_samples_epochs_and_seeds_are_separate_draws(journal):
    model = Speaker(draw)
    answers = [await solve(model, journal)]
    answers.append(await solve(model, journal, epoch=1))
    answers.append(await solve(model, journal, sample=SAMPLES[1]))
    answers.append(await solve(model, journal, run_seed=1))
    assert len({a.answer for a in answers}) == 4 and len(model.asked) == 8
    assert len({r.seed for r in model.asked}) == 8


async def test_deterministic_model_at_temperature_zero_is_called_once(journal):
    class Same:
        async def solve(self, episode):
            return Answer((await episode.ask([Message("user", "the same for all")], "answer")).text)

    model = Speaker(lambda r: "fixed", deterministic=True)
    model.sampling = model.sampling.merged(type(model.sampling)(temperature=0.0))
    for sample in SAMPLES[:3]:
        await solve(model, journal, Same(), sample)
    assert len(model.asked) == 1


async def test_failed_call_is_not_journalled(journal):
    class Down(Speaker):
        async def generate(self, request):
            self.asked.append(request)
            raise ModelError("no reply", "server")

    failing = Down(draw)
    trajectory = await solve(failing, journal)
    assert (trajectory.stop, trajectory.error) == ("error", "server: no reply")
    model = Speaker(draw)
    assert (await solve(model, journal)).stop == "answered" and len(model.asked) == 2


async def test_strict_replay_is_identical_or_names_the_first_difference(journal):
    first = await solve(Speaker(draw), journal)

    def forbidden(request):
        raise AssertionError("nothing may leave")

    again = await solve(Speaker(forbidden), journal, replay=True)
    assert again.answer == first.answer

    class Changed(Twice):
        async def solve(self, episode):
            return Answer((await episode.ask([Message("user", "other", source="set/ask.jinja")], "answer")).text)

    with pytest.raises(ConfigError, match=r"run\.replay: sample 'q0'.*set/ask\.jinja"):
        await solve(Speaker(forbidden), journal, Changed(), replay=True)


async def test_identical_calls_in_flight_are_made_once():
    model = Speaker(lambda r: "fixed", wait=0.05)
    shared = door(model)
    both = await asyncio.gather(*(run_episode(parts(Twice()), shared, SAMPLES[0], 0) for _ in range(2)))
    assert len(model.asked) == 2
    assert both[0][0].answer == both[1][0].answer


async def test_failing_call_in_flight_fails_all_waiters():
    class Down(Speaker):
        async def generate(self, request):
            await asyncio.sleep(0.01)
            self.asked.append(request)
            raise ModelError("no reply", "server")

    model = Down(draw)
    shared = door(model)
    both = await asyncio.gather(*(run_episode(parts(Twice()), shared, SAMPLES[0], 0) for _ in range(2)))
    assert [t.stop for t, _ in both] == ["error", "error"] and len(model.asked) == 1


async def test_run_budget_stops_before_sending_and_replayed_calls_are_free(journal):
    model = Speaker(draw)
    limited = door(model, journal, budget=Budget(calls=3))
    await run_episode(parts(Twice()), limited, SAMPLES[0], 0)
    with pytest.raises(RunLimitReached, match=r"budget\.run\.calls=3"):
        await run_episode(parts(Twice()), limited, SAMPLES[1], 0)
    assert len(model.asked) == 3
    fresh = door(model, journal, budget=Budget(calls=1))
    await run_episode(parts(Twice()), fresh, SAMPLES[0], 0)
    await run_episode(parts(Twice()), fresh, SAMPLES[1], 0)
    assert len(model.asked) == 4 and fresh.spent.calls == 1


async def test_unnamed_roles_use_the_main_model():
    main, judge = Speaker(lambda r: "main", name="a"), Speaker(lambda r: "judge", name="b")
    both: Door = door({"main": main, "judge": judge})
    assert both.model("judge") == ("judge", judge)
    assert both.model("planner") == ("main", main)


async def test_cancelled_call_is_repeated_by_its_waiters():
    class Same:
        async def solve(self, episode):
            return Answer((await episode.ask([Message("user", "the same for all")], "answer")).text)

    model = Speaker(lambda r: "fixed", deterministic=True, wait=0.2, random=Random(1))
    model.sampling = model.sampling.merged(type(model.sampling)(temperature=0.0))
    shared = door(model)
    impatient = parts(Same(), budget=Budget(seconds=0.01))
    first, second = await asyncio.gather(
        run_episode(impatient, shared, SAMPLES[0], 0), run_episode(parts(Same()), shared, SAMPLES[1], 0)
    )
    assert (first[0].stop, second[0].stop, second[0].answer) == ("limit", "answered", "fixed")


async def test_cost_budget_holds_before_any_price_is_known():
    """Twenty samples start at once; the first reply sets the estimated price of a call."""
    model = Speaker(lambda r: "x", wait=0.01, price=1.0)
    shared = door(model, budget=Budget(usd=3.0))
    ended = await asyncio.gather(*(run_episode(parts(Twice()), shared, Rows(20).load("test")[n], 0) for n in range(20)),
                                 return_exceptions=True)  # fmt: skip
    assert sum(isinstance(one, RunLimitReached) for one in ended) >= 18
    assert len(model.asked) == 3


async def test_waiters_for_the_first_price_proceed_when_that_call_fails():
    replies = iter([ModelError("down", "server"), "x", "x"])

    def say(request):
        reply = next(replies)
        if isinstance(reply, ModelError):
            raise reply
        return reply

    shared = door(Speaker(say, wait=0.01, price=1.0), budget=Budget(usd=9.0))
    first, second = await asyncio.gather(*(run_episode(parts(Twice()), shared, sample, 0) for sample in SAMPLES[:2]))
    assert (first[0].stop, second[0].stop) == ("error", "answered")


class Same:
    """Asks the same of every sample."""

    async def solve(self, episode):
        return Answer((await episode.ask([Message("user", "same")], "answer")).text)


class Full:
    """A journal on a full disk."""

    def get(self, key):
        return None

    def reserve(self):
        return None

    def put(self, key, payload):
        raise Unwritable(Path("journal"), OSError(ENOSPC, "No space left on device"))


class Deterministic(Speaker):
    def __init__(self, say, wait=0.0):
        super().__init__(say, deterministic=True, sampling=Sampling(temperature=0.0), wait=wait)


def too_long(request):
    raise ModelError("the prompt is too long", OVERFLOW)


@pytest.mark.parametrize("say", [lambda request: "a reply", too_long])
async def test_no_waiter_gets_what_could_not_be_journalled(say):
    model, in_flight = Deterministic(say, wait=0.01), {}
    full = Door({"main": model}, Full(), run_seed=0, in_flight=in_flight)
    runs = [run_episode(parts(Same()), full, sample, 0) for sample in SAMPLES[:2]]
    async with asyncio.timeout(10):
        found = await asyncio.gather(*runs, return_exceptions=True)
    assert [type(one) for one in found] == [Unwritable, Unwritable] and in_flight == {}


async def test_a_call_that_waited_for_the_budget_looks_into_the_journal_again(journal):
    class Asks:
        def __init__(self, text):
            self.text = text

        async def solve(self, episode):
            return Answer((await episode.ask([Message("user", self.text)], "answer")).text)

    class Slow(Deterministic):
        async def generate(self, request):
            await asyncio.sleep({"short": 0.05, "long": 0.3, "shared": 0.05}[request.messages[0].text])
            return await super().generate(request)

    model, in_flight, pool = Slow(lambda request: "a reply"), {}, BudgetPool(Budget(usd=10), 2)
    pool.total.calls, pool.total.usd = 1, 0.001  # of an earlier job
    one, other = (Door({"main": model}, journal, run_seed=0, budget_pool=pool, in_flight=in_flight) for _ in range(2))

    def start(opened, text, n):
        return asyncio.create_task(run_episode(parts(Asks(text)), opened, SAMPLES[n], 0))

    long = start(other, "long", 0)
    await asyncio.sleep(0.01)
    waiting = start(other, "shared", 1)  # for the price of the other job's first call
    await start(one, "short", 0)
    await start(one, "shared", 1)
    await asyncio.gather(long, waiting)
    assert sum(request.messages[0].text == "shared" for request in model.asked) == 1
