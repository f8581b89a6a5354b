"""The memory of a run: made once, reused, and never from evaluated samples."""

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from components.core.errors import ConfigError
from components.core.traits import Requirements, SourceTraits
from components.core.types import Answer, Problem, Sample
from runner.experiment.experiment import Experiment, Launch
from runner.experiment.privacy import PrivacyRefused
from runner.learning.checks import check_learning, check_memory
from runner.learning.folders import digest_of, find_recorded
from runner.learning.lesson import lesson_of, refuse_lost
from runner.learning.memory import learn, remember
from tests.parts import Rows, Speaker, door, parts


@dataclass(frozen=True)
class Practise:
    """A stage that asks once per sample and keeps what was said."""

    prompts: str = "optimize"

    async def run(self, practice, samples):
        replies = {}
        for sample in samples:

            async def solve(episode):
                from components.core.messages import Message

                return Answer((await episode.ask([Message("user", episode.problem.question)], "reflect")).text)

            replies[sample.problem.id] = (await practice.run_sample(sample, solve)).score
        return {"said.json": replies}


@dataclass(frozen=True)
class Remembered:
    digest: str

    def search(self, problem):
        return ()

    def experience(self, tool):
        return ()


@dataclass(frozen=True)
class Source:
    path: str | None = None
    split: str | None = None
    samples: int | None = None
    needed: bool = True
    stage: Practise = Practise()
    prefers: tuple[str, ...] = ("train",)

    def open(self, folder, digest):
        return Remembered(digest)


@dataclass(frozen=True)
class Halves(Rows):
    """``train`` has four questions of its own, and one that is a test question by its text."""

    splits: tuple[str, ...] = ("test", "train")
    same_id: bool = False

    def load(self, split):
        if split == "test":
            return super().load(split)
        own = [Sample(Problem(f"t{i}", f"lesson {i}"), "learnt") for i in range(4)]
        return [*own, Sample(Problem("q0" if self.same_id else "t9", "question 0"), "learnt")]


def experiment(tmp_path: Path, dataset=None, source=None) -> Experiment:
    keys = ("model", "agent", "grammars", "toolset", "condition", "scorer", "seed", "profile")
    cfg = {key: {} for key in keys} | {
        "memory": {"stage": {}}, "budget": {"sample": {}}, "dataset": {"_target_": repr(dataset or Halves())}, "run": {"memory": str(tmp_path)},
        "stage": "memory",
    }  # fmt: skip
    dataset, model = dataset or Halves(), Speaker(lambda request: "learnt")
    from runner.episode.budget import Budget

    return Experiment(
        "n",
        0,
        1,
        parts(),
        {"main": model},
        dataset,
        dataset.load("test"),
        Budget(),
        cfg,
        {},
        {},
        Launch(),
        source or Source(),
    )


async def test_a_memory_is_made_once_and_named_by_its_content(tmp_path):
    one = experiment(tmp_path)
    folder, message = await learn(one, door(one.models["main"]))
    model = one.models["main"]
    assert len(model.asked) == 4 and not message and folder.parent == tmp_path
    assert json.loads((folder / "said.json").read_text()) == {f"t{i}": 1.0 for i in range(4)}
    notes = json.loads((folder / "manifest.json").read_text())
    assert notes["samples"] == ["t0", "t1", "t2", "t3"] and notes["digest"] == folder.name and notes["split"] == "train"
    again, _ = await learn(one, door(model))
    assert again == folder and len(model.asked) == 4
    other = replace(one, seed=1)  # other draws but the same replies: another recipe, the same memory
    assert (await learn(other, door(model)))[0] == folder and len(model.asked) == 8
    assert len(list((tmp_path / "recipes").iterdir())) == 2


async def test_secrets_that_a_server_returned_are_hidden(tmp_path, monkeypatch):
    keys = {"JUDGE_API_KEY": "plain-key-0123456789", "ODD": 'a"quoted"-key-0123'}
    for name, value in keys.items():
        monkeypatch.setenv(name, value)

    @dataclass(frozen=True)
    class Leaky(Practise):
        async def run(self, practice, samples):
            return {"said.json": [" and ".join(keys.values())]}

    one = experiment(tmp_path, source=Source(stage=Leaky()))
    one = replace(one, cfg=one.cfg | {"model": {"api_key_env": "ODD"}})
    folder, _ = await learn(one, door(one.models["main"]))
    assert (
        json.loads((folder / "said.json").read_text()) == ["[hidden] and [hidden]"] and digest_of(folder) == folder.name
    )


async def test_samples_are_a_seeded_draw(tmp_path):
    one = experiment(tmp_path)
    drawn = lesson_of(one, Source(samples=2))
    assert len(drawn.samples) == 2 and drawn.recipe == lesson_of(one, Source(samples=2)).recipe
    assert drawn.recipe != lesson_of(one, Source()).recipe


@pytest.mark.parametrize(("splits", "prefers", "chosen"), [
    (("test", "train", "dev"), ("train",), "train"), (("test", "train", "dev"), ("dev", "train"), "dev"),
    (("test", "val"), ("train",), "val"), (("test_hard", "test", "ablations"), ("train",), None),
])  # fmt: skip
def test_split_is_the_preferred_one_and_never_an_evaluation_split(tmp_path, splits, prefers, chosen):
    lesson = lesson_of(experiment(tmp_path, Halves(splits=splits)), Source(prefers=prefers))
    assert chosen == (None if lesson is None else lesson.split)


@pytest.mark.parametrize(("per", "one_each", "two_each"), [("task", 2, 3), ("all", 1, 2)])
def test_samples_are_counted_per_task_where_declared(tmp_path, per, one_each, two_each):
    @dataclass(frozen=True)
    class Tasks(Halves):
        def load(self, split):
            found = [replace(s, strata={"task": "ab"[n % 2]}) for n, s in enumerate(super().load(split))]
            return [replace(s, strata={"task": "b"}) if s.problem.id in ("t2", "t3") else s for s in found]

    @dataclass(frozen=True)
    class PerTask(Source):
        traits: ClassVar[SourceTraits] = SourceTraits(per_task=per == "task")

    def drawn(limit):
        lesson = lesson_of(experiment(tmp_path, Tasks()), PerTask(samples=limit))
        return Counter(sample.strata["task"] for sample in lesson.samples)

    assert drawn(None) == {"a": 1, "b": 3}
    assert [sum(drawn(limit).values()) for limit in (1, 2)] == [one_each, two_each]


@dataclass(frozen=True)
class Inner:
    requirements: ClassVar[Requirements] = Requirements(memory="examples")

    async def solve(self, episode):
        return Answer("")


@dataclass(frozen=True)
class Outer:
    inner: Inner = Inner()

    async def solve(self, episode):
        return await self.inner.solve(episode)


@pytest.mark.parametrize("agent", [Inner(), Outer()])
def test_an_agent_that_needs_a_memory_is_refused_without_one(tmp_path, agent):
    one = experiment(tmp_path)
    without = replace(one, source=None, parts=replace(one.parts, agent=agent))
    with pytest.raises(
        ConfigError,
        match="Inner shows solved tasks from a memory, and there is none; choose one, such as memory=examples",
    ):
        check_memory(without)
    assert check_memory(replace(without, source=Source())) is None


@pytest.mark.parametrize(("dataset", "source", "says"), [
    (Halves(same_id=True), Source(), "sample 'q0' is evaluated too"),
    (Halves(), Source(split="test"), "another split than the evaluated one; there is train"),
    (Halves(), Source(split="dev"), "memory.split='dev'"),
    (Rows(), Source(split="train"), "there is none"),
    (Halves(), Source(path="nowhere"), "no memory 'nowhere'"),
    (Halves(), Source(path=""), "no memory ''"),
    (Halves(), Source(path="/usr"), "/usr is not a memory"),
])  # fmt: skip
async def test_unusable_training_data_are_refused(tmp_path, dataset, source, says):
    one = experiment(tmp_path, dataset, source)
    with pytest.raises(ConfigError, match=says):
        check_memory(one)
    with pytest.raises(ConfigError, match=says):
        await learn(one, door(one.models["main"]))
    assert one.models["main"].asked == []


async def test_named_memory_is_checked_before_the_run(tmp_path):
    one = experiment(tmp_path)
    folder, _ = await learn(one, door(one.models["main"]))
    named = replace(one, source=Source(path=str(folder)))
    assert check_memory(named) == "open" and check_memory(one) is None
    assert (await learn(named, door(one.models["main"]))) == (folder, [])
    trained = replace(named, dataset=Halves(split="train"))
    with pytest.raises(ConfigError, match="learnt from 4 of the samples that are evaluated, such as 't0'"):
        check_memory(trained)
    (folder / "said.json").write_text("{}")
    with pytest.raises(ConfigError, match="was changed"):
        check_memory(named)


async def test_memory_of_restricted_data_needs_a_permitted_model(tmp_path):
    one = experiment(tmp_path, Halves(privacy="phi"))
    folder, _ = await learn(one, door(one.models["main"]))
    run = replace(
        one, dataset=Halves(), source=Source(path=str(folder)), parts=parts(Inner()), cfg=one.cfg | {"stage": None}
    )
    check_learning(run)
    outside = replace(run, models={"main": Speaker(lambda request: "x", in_process=False)})
    with pytest.raises(PrivacyRefused, match=r"the memory is phi and the model 'speaker'.*model\.permits=\[phi\]"):
        check_learning(outside)


async def test_changed_training_samples_under_the_same_ids_make_another_memory(tmp_path):
    @dataclass(frozen=True)
    class Changed(Halves):
        fingerprint: str = "changed"

        def load(self, split):
            return [replace(s, target="changed") if split == "train" else s for s in super().load(split)]

    recipes = {lesson_of(experiment(tmp_path, data), Source()).recipe for data in (Halves(), Changed())}
    assert len(recipes) == 2


async def test_without_a_training_split_an_empty_memory_is_reported(tmp_path):
    one = experiment(tmp_path, Rows())
    assert await learn(one, door(one.models["main"])) == (
        None,
        ["the dataset has no split to learn from: nothing was learnt"],
    )


async def test_the_run_has_the_memory_and_its_manifest_names_it(tmp_path):
    one, notes = experiment(tmp_path / "memory"), {"notes": []}
    remembering = await remember(one, door(one.models["main"]), tmp_path / "run", None, notes)
    assert remembering.parts.memory.digest == notes["memory"]
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["memory"] == notes["memory"]
    with pytest.raises(ConfigError, match="started with another memory: it was other"):
        await remember(one, door(one.models["main"]), tmp_path / "run", "other", {"notes": []})


async def test_memory_that_is_never_shown_is_not_made(tmp_path):
    one = experiment(tmp_path, source=Source(needed=False))
    await remember(one, door(one.models["main"]), tmp_path / "run", None, {"notes": []})
    assert one.models["main"].asked == []


async def test_concurrent_runs_make_one_shared_memory(tmp_path):
    import asyncio

    one = experiment(tmp_path)
    pair = await asyncio.gather(*(learn(one, door(one.models["main"])) for _ in range(2)))
    assert pair[0] == pair[1] and not list(tmp_path.glob(".making-*"))


async def test_recipe_cannot_point_outside_and_a_lost_manifest_is_reported(tmp_path):
    one = experiment(tmp_path)
    folder, _ = await learn(one, door(one.models["main"]))
    (note,) = (tmp_path / "recipes").iterdir()
    for text in (b"../../etc", b"\xff\xfe", b"x" * 100_000, b""):
        note.write_bytes(text)
        assert (await learn(one, door(one.models["main"])))[0] == folder
    (folder / "manifest.json").unlink()
    with pytest.raises(ConfigError, match="has no manifest"):
        await learn(one, door(one.models["main"]))


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_unwritable_memory_folder_is_reported_before_the_run(tmp_path, place):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"run\.memory: .*file is a file"):
        check_memory(experiment(tmp_path / place))


def memory_in(folder, text):
    folder.mkdir(parents=True)
    (folder / "provenance.json").write_text(json.dumps(text))
    return digest_of(folder)


def test_the_memory_of_a_run_is_found_from_the_run_and_never_another_one(tmp_path, monkeypatch):
    run, here = tmp_path / "there/outputs/run", tmp_path / "here"
    digest = memory_in(tmp_path / "there/own", "mine")
    memory_in(here / "own", "another of the same name")
    monkeypatch.chdir(here)
    cfg = {"run": {"memory": "outputs/.memory"}, "memory": {"path": "own"}}
    assert find_recorded(cfg, run, digest) == tmp_path / "there/own"
    with pytest.raises(ConfigError, match="run: its memory own is missing or was changed"):
        find_recorded(cfg, here / "run", digest)
    found = tmp_path / "there/outputs/.memory" / digest
    assert memory_in(found, "mine") == digest
    cfg = {**cfg, "memory": {"path": None}}
    assert find_recorded(cfg, run, digest) == found
    assert find_recorded(cfg, run, "0123456789abcdef") is None, "not learnt, so it has no folder"
    assert find_recorded({**cfg, "memory": None}, run, digest) is None


def test_a_memory_that_is_lost_is_not_learnt_again_in_its_place(tmp_path):
    with pytest.raises(ConfigError, match="run: the memory that it learnt is no longer in"):
        refuse_lost(experiment(tmp_path), Path("run"))
    for kept in (Source(path="own"), Source(needed=False)):
        refuse_lost(experiment(tmp_path, source=kept), Path("run"))
    refuse_lost(experiment(tmp_path, Rows()), Path("run"))  # it had nothing to learn from
