import json

import pytest

from components.acting.solved import Entry, SolvedQuestions
from components.core.errors import ConfigError
from components.memory.solved import Solved
from components.stages.optimize import Solve

DOSE = {"id": "learnt-0", "database": "eicu", "question": "what dose was given?", "code": "answer = 1"}


@pytest.fixture
def demonstrations(tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    for name in ("mimic_iii", "treqs", "mimic_iv"):
        (folder / f"{name}.yaml").write_text("[]")
    (folder / "eicu.yaml").write_text(
        "- question: ' how many patients are there? '\n  knowledge: ['- patient']\n  code: answer = 2\n  sql: select 2\n"
    )
    return {"stage": Solve(), "shots": 1, "prompts": str(folder)}


def learnt(folder, *rows):
    (folder / "solved.json").write_text(json.dumps(rows))
    return folder


def test_demonstrations_and_what_was_learnt_the_nearest_first(demonstrations, tmp_path):
    memory = Solved(**demonstrations, learn=True).open(learnt(tmp_path, DOSE), "made")
    first, second = memory.search("what dose was given")
    assert (first.problem, first.solution, first.data["distance"]) == ("what dose was given?", "answer = 1", 1)
    assert (
        second.data["seed"]
        and second.problem == "how many patients are there?"
        and second.data["knowledge"] == "- patient"
    )
    assert memory.experience("python") == () and memory.notes == ()
    assert memory.traits.hold is None


def test_the_digest_covers_everything_that_is_shown(demonstrations, tmp_path):
    def digest(**values):
        source = Solved(**{**demonstrations, **values})
        return source.open(folder if source.needed else None, "made").digest

    folder = learnt(tmp_path, DOSE)
    assert digest(learn=True) == "made"  # as its folder is called
    assert len({"made", digest(update="gold"), digest(update="executed"), digest(), digest(shots=0)}) == 5


def test_a_memory_that_grows_says_so_and_learns_nothing_before(demonstrations):
    for update, words in (("gold", "by the gold answers"), ("executed", "by what the agent itself had ended")):
        source = Solved(**demonstrations, update=update)
        (note,) = source.open(None, "").notes
        assert not source.needed and words in note and "one after the other" in note


def test_growing_or_learnt_memories_do_not_provide_demonstrations(demonstrations):
    assert Solved(**demonstrations).traits.holds == ("solved", "demonstrations", "tasks")
    for settings in ({"update": "executed"}, {"learn": True}):
        assert Solved(**demonstrations, **settings).traits.holds == ("solved",)


def test_a_memory_without_learnt_questions_reports_it(demonstrations):
    (note,) = Solved(**demonstrations, learn=True).open(None, "").notes
    assert note.endswith("the project's own demonstrations are shown")
    assert Solved(**demonstrations).open(None, "").notes == ()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"samples": 40}, "memory.samples=40: no training question is solved first; choose memory=solved_training"),
        ({"path": "x", "update": "gold"}, "memory.path='x': no training question is solved first"),
        ({"learn": True, "update": "executed"}, "for the latter choose memory=solved_training"),
        (
            {"shots": 2},
            "agent.shots=2: more than the demonstrations of 'eicu' in the prompt set '.*'; ask for at most 1",
        ),
    ],
)
def test_settings_without_effect_are_refused_with_a_correction(demonstrations, settings, message):
    with pytest.raises(ConfigError, match=message):
        Solved(**{**demonstrations, **settings})


def test_a_memory_begins_with_as_many_demonstrations_as_are_shown():
    for shots in (1, 4, 8):
        memory = Solved(stage=Solve(), shots=shots, update="executed").open(None, "")
        assert [one.id for one in memory.entries if one.database == "eicu"] == [f"eicu-{n + 1}" for n in range(shots)]
    with pytest.raises(
        ConfigError, match=r"agent\.shots=9: more than the demonstrations of 'mimic_iii' .*; ask for at most 8"
    ):
        Solved(stage=Solve(), shots=9)


def test_an_unreadable_memory_is_refused(demonstrations, tmp_path):
    source = Solved(**demonstrations, learn=True)
    with pytest.raises(ConfigError, match=r"holds no solved\.json; memory=solved_training makes it"):
        source.open(tmp_path, "d")
    (tmp_path / "solved.json").write_text("[{]")
    with pytest.raises(ConfigError, match="not a list of solved questions"):
        source.open(tmp_path, "d")
    learnt(tmp_path, {"id": "x"})
    with pytest.raises(ConfigError, match="not a list of solved questions"):
        source.open(tmp_path, "d")


def test_only_what_was_learnt_before_is_held_and_a_question_once():
    memory = SolvedQuestions("m", [Entry("s", "eicu", "who?")], "gold")
    again = {"database": "eicu", "question": "who?", "code": "answer = 9"}
    other = {"database": "mimic_iii", "question": "who?", "code": "answer = 3"}
    memory.hold([again, other, other])
    assert [(one.id, one.database) for one in memory.grown] == [("learnt-1", "mimic_iii")]
    memory.hold([])
    assert len(memory.search("who?")) == 1 and memory.traits.hold == memory.hold
