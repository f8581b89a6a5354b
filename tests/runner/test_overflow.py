"""A request longer than the context window fails its episode; only requests from outside the agent are errors."""

from collections import Counter

import pytest
from numpy import isnan

from components.core.errors import CUT_OFF, OVERFLOW, ConfigError, ModelError
from components.core.messages import Completion, Message, Usage
from components.core.traits import ScorerTraits
from components.core.types import Answer, Score
from runner.episode.budget import Budget
from runner.episode.episode import run_episode
from runner.job.execute import Execution, Outcome
from runner.results.metrics import overflow_line, summarise
from runner.results.table import Table
from runner.storage.journal import Journal
from runner.storage.records import RecordWriter, read
from tests.parts import Rows, Speaker, door, parts
from tests.table import each_row

SAMPLES = Rows().load("test")


def too_long(limit=1):
    """Answers up to a number of messages."""

    def say(request):
        if len(request.messages) > limit:
            raise ModelError("the prompt is too long", OVERFLOW)
        return 'call count {"n": 1}' if limit > 1 else f"answer {request.sample_id[1:]}"

    return say


async def run_one(model, **changes):
    return await run_episode(parts(**changes), door(model), SAMPLES[0], 0)


async def test_overflowed_episode_is_scored_like_any_failure():
    trajectory, scores = await run_one(Speaker(too_long(3)))
    assert (trajectory.stop, trajectory.failure) == ("failed", "context_length")
    assert trajectory.error == "the prompt is too long" and trajectory.answer is None
    assert len(trajectory.steps) == 2 and [(one.name, one.value) for one in scores] == [("score/right", 0.0)]


async def test_other_model_errors_are_unscored():
    def down(request):
        raise ModelError("no reply", "server")

    trajectory, scores = await run_one(Speaker(down))
    assert (trajectory.stop, trajectory.failure, scores) == ("error", None, [])


@each_row("role", ["verifier", "tool", "builder"])
async def test_overflow_in_any_part_of_the_method_fails_the_episode(role):
    class Asks:
        async def solve(self, episode):
            return Answer((await episode.ask([Message("user", "?")] * 2, "verify", role=role)).text)

    trajectory, _ = await run_one(Speaker(too_long()), agent=Asks())
    assert trajectory.failure == "context_length"


async def test_overflow_in_a_concurrent_branch_fails_the_episode():
    class Asks:
        async def solve(self, episode):
            await episode.ask_each(
                {"expert/1": [Message("user", "?")], "expert/2": [Message("user", "?")] * 2}, "knowledge"
            )

    trajectory, _ = await run_one(Speaker(too_long()), agent=Asks())
    assert (trajectory.stop, trajectory.failure) == ("failed", "context_length")


async def test_overflow_in_a_scorer_is_not_a_failure_of_the_agent():
    class Judge:
        traits = ScorerTraits(asks="main")

        async def consult(self, sample, trajectory, scores, episode):
            await episode.ask([Message("user", "?")] * 9, "judge")

        def score(self, sample, trajectory):
            return [Score("judged", 1.0)]

    trajectory, scores = await run_one(Speaker(too_long(2)), scorers={"judge": Judge()})
    assert (trajectory.stop, scores) == ("error", []) and str(trajectory.error).startswith("context_window: ")


class Cut(Speaker):
    """Every reply is cut off at the end of the window."""

    async def generate(self, request):
        self.asked.append(request)
        return Completion(Message("assistant", "answer 0"), Usage(10, 2, 0.5), CUT_OFF)


async def test_truncated_reply_is_paid_and_recorded_but_not_an_answer():
    at = door(Cut(lambda request: ""))
    trajectory, scores = await run_episode(parts(), at, SAMPLES[0], 0)
    assert (trajectory.failure, trajectory.answer, scores[0].value) == ("context_length", None, 0.0)
    assert [step.finish for step in trajectory.steps] == [CUT_OFF] and at.spent.usd == 0.5


async def test_strict_replay_overflows_in_the_same_place(tmp_path):
    with Journal(tmp_path) as journal:
        first = await run_episode(parts(), door(Speaker(too_long(3)), journal), SAMPLES[0], 0)
    with Journal(tmp_path) as journal:
        larger = Speaker(lambda request: "answer 0" if len(request.messages) > 3 else "no call is asked again")
        replayed = await run_episode(parts(), door(larger, journal, replay=True), SAMPLES[0], 0)
        assert (replayed[0].failure, replayed[0].error) == (first[0].failure, first[0].error) and not larger.asked
        assert [step.reply for step in replayed[0].steps] == [step.reply for step in first[0].steps]
        again, _ = await run_episode(parts(), door(larger, journal), SAMPLES[0], 0)
        assert (again.stop, again.answer, len(larger.asked)) == ("answered", "answer 0", 1)


async def test_strict_replay_names_a_request_that_was_never_sent(tmp_path):
    with Journal(tmp_path) as journal:
        await run_episode(parts(), door(Speaker(too_long(3)), journal), SAMPLES[0], 0)
        with pytest.raises(ConfigError, match="no call was recorded for this sample"):
            await run_episode(parts(), door(Speaker(too_long(3)), journal, replay=True), SAMPLES[1], 0)


async def run(folder, model):
    writer, outcome = RecordWriter(folder), Outcome()
    try:
        await Execution(parts(), door(model, budget=Budget()), writer, outcome).run(SAMPLES, 1)
    finally:
        writer.close()
    return outcome


async def test_overflowed_sample_is_complete_and_not_a_run_error(tmp_path):
    def say(request):
        if request.sample_id in ("q1", "q4"):
            raise ModelError("too long", OVERFLOW)
        if request.sample_id == "q2":
            raise ModelError("no reply", "server")
        return f"answer {request.sample_id[1:]}"

    first = await run(tmp_path, Speaker(say))
    assert (first.errored, first.error_rate) == (1, pytest.approx(1 / 6))
    metrics = summarise(read(tmp_path))["metrics"]
    assert (metrics["score/right"]["value"], metrics["score/right"]["n"]) == (pytest.approx(3 / 5), 5)
    assert (metrics["errors/context_length"]["value"], metrics["errors/context_length"]["n"]) == (0.4, 5)
    assert (metrics["errors/rate"]["n"], metrics["stop/failed"]["value"]) == (6, 0.4)
    assert overflow_line(metrics).startswith("context:    2 of 5 episodes")
    values = Table.of(read(tmp_path)).values("errors/context_length")
    assert Counter(values[~isnan(values)].tolist()) == {0.0: 3, 1.0: 2}, "an error is neither"
    model = Speaker(lambda request: f"answer {request.sample_id[1:]}")
    await run(tmp_path, model)
    assert [request.sample_id for request in model.asked] == ["q2"]


async def test_overflow_errors_of_older_runs_are_run_again(tmp_path):
    first = await run(tmp_path, Speaker(lambda request: "answer 1"))
    lines = (tmp_path / "records.jsonl").read_bytes().replace(b'"stop":"answered"', b'"stop":"error"', 1)
    (tmp_path / "records.jsonl").write_bytes(lines)
    model = Speaker(lambda request: "answer 1")
    await run(tmp_path, model)
    assert len(model.asked) == 1 and len(list(read(tmp_path))) == first.finished


def test_run_without_overflow_counts_zero_and_prints_nothing():
    record = {"sample_id": "s", "epoch": 0, "cluster": None, "strata": {}, "stop": "answered", "failure": None, "seconds": 1.0,
              "scores": {}, "ceilings": {}, "usage": {"calls": 1, "input_tokens": 1, "output_tokens": 1, "cost_usd": 0.0,
                                                      "purposes": {}}}  # fmt: skip
    metrics = summarise([record])["metrics"]
    assert metrics["errors/context_length"]["value"] == 0.0 and overflow_line(metrics) is None
