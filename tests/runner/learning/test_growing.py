"""A growing memory: samples run one by one, each with all earlier lessons, also after being resumed."""

import json
from dataclasses import dataclass

import pytest

from components.acting.solved import Entry, SolvedQuestions, learn
from components.core.errors import ModelError
from components.core.messages import Message
from components.core.types import Answer
from runner.episode.budget import Budget
from runner.job.execute import Execution, Outcome
from runner.storage.records import RecordWriter, read
from tests.parts import Rows, Speaker, door, parts
from tests.slow import slow


@dataclass(frozen=True)
class Student:
    """Reports its lessons, asks once, and learns its answer."""

    async def solve(self, episode):
        question = episode.problem.question
        known = [one.problem for one in episode.memory.search(question)]
        reply = await episode.ask([Message("user", f"{question}; known: {sorted(known)}")], "answer")
        episode.remark(memory_size=len(known))
        outcome = Answer(reply.text)
        await learn(episode, outcome, {"database": "d", "question": question, "code": reply.text})
        return outcome


def right(request):
    return f"answer {request.sample_id[1:]}"


async def run(folder, say, update="executed", samples=None, epochs=1, **changes):
    writer, outcome = RecordWriter(folder), Outcome()
    memory = SolvedQuestions("m", [Entry("seed", "d", "question of old", code="1")], update)
    model = say if isinstance(say, Speaker) else Speaker(say, wait=0.002)
    try:
        playing = parts(Student(), memory=memory)
        await Execution(playing, door(model, **changes), writer, outcome).run(samples or Rows().load("test"), epochs)
        return outcome
    finally:
        writer.close()


def story(folder):
    """The samples and their numbers of memory entries, in the order of the records."""
    return [(r["sample_id"], r["epoch"], r["steps"][0]["remarks"]["memory_size"]) for r in read(folder)]


async def test_samples_run_one_by_one_in_a_drawn_order_as_memory_grows(tmp_path):
    await run(tmp_path / "one", right)
    order = [name for name, _, _ in story(tmp_path / "one")]
    assert sorted(order) == [f"q{n}" for n in range(6)] != order
    assert [size for _, _, size in story(tmp_path / "one")] == [1, 2, 3, 4, 5, 6]
    await run(tmp_path / "two", right, samples=Rows().load("test")[::-1])
    assert [name for name, _, _ in story(tmp_path / "two")] == order


async def test_gold_mode_learns_only_correct_answers(tmp_path):
    await run(tmp_path, lambda request: "no" if request.sample_id == "q1" else right(request), update="gold")
    names = [name for name, _, _ in story(tmp_path)]
    sizes = [size for _, _, size in story(tmp_path)]
    missed = names.index("q1")
    assert sizes == [n + 1 - (n > missed) for n in range(6)]


async def test_each_epoch_learns_only_from_itself(tmp_path):
    await run(tmp_path, right, epochs=2)
    found = story(tmp_path)
    assert [epoch for _, epoch, _ in found] == [0] * 6 + [1] * 6 and [size for _, _, size in found] == [
        1,
        2,
        3,
        4,
        5,
        6,
    ] * 2


class Stops(Speaker):
    """Stops answering at one sample."""

    async def generate(self, request):
        if request.sample_id == "q2":
            raise ModelError("down", "server")
        return await super().generate(request)


@pytest.mark.parametrize("budget", [Budget(), Budget(calls=3)], ids=["after an error", "after a budget"])
async def test_resumed_sample_has_only_the_lessons_before_it(tmp_path, budget):
    await run(tmp_path / "whole", right)
    first = Stops(right) if budget == Budget() else Speaker(right)
    outcome = await run(tmp_path / "parts", first, budget=budget)
    assert ("the memory grows from sample to sample" in (outcome.halted or "")) is (budget == Budget())
    await run(tmp_path / "parts", right)
    assert len(story(tmp_path / "parts")) == 6
    whole = {name: size for name, _, size in story(tmp_path / "whole")}
    again = {name: size for name, _, size in story(tmp_path / "parts")}
    assert again == whole


async def test_records_contain_the_lessons(tmp_path):
    await run(tmp_path, right, samples=Rows(1).load("test"))
    (record,) = read(tmp_path)
    assert json.loads(json.dumps(record["steps"][0]["remarks"]["learnt"])) == {
        "database": "d", "question": "question 0", "code": "answer 0",
    }  # fmt: skip


REFUSED = {
    "run.shard=1/2": "the memory grows from question to question, so run.shard cannot split them; remove it, or",
    "memory.samples=40": "no training question is solved first; choose memory=solved_training",
    "stage=solve memory=solved": "the memory that is chosen learns nothing on training samples; choose one that does",
}


@slow
@pytest.mark.parametrize("word", REFUSED)
def test_unsupported_settings_of_a_growing_memory_are_refused_before_the_run(word, home):
    done = home.run("agent=ehragent", *word.split(), "tracking=off", plain=True)
    (line,) = [line for line in done.err.splitlines() if line]
    assert done.code == 2 and REFUSED[word] in line
