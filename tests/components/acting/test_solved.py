from types import SimpleNamespace

import pytest

from components.acting.solved import Entry, SolvedQuestions, learn, lessons_in, own_seeds, seeds_of, solved_like
from components.core.errors import ConfigError
from components.core.types import Answer, Problem
from tests.table import each_row

ENTRIES = (
    Entry("eicu-2", "eicu", "how many?", code="answer = 1", sql="select 1", seed=True),
    Entry("eicu-1", "eicu", "which ward?", code="answer = 2", actions="Finish[2]", seed=True),
    Entry("mimic_iii-1", "mimic_iii", "how many?", code="answer = 3", seed=True),
    Entry("learnt-0", "eicu", "how many now?", code="answer = 4"),
)


class Desk:
    """An episode with a memory, whose outcomes are right or wrong as configured."""

    def __init__(self, memory, right=True):
        self.memory, self.problem, self.right, self.remarks = memory, Problem("p", " how many? "), right, {}

    async def correct(self, outcome):
        return self.right

    def remark(self, **facts):
        self.remarks |= facts


def ids(found):
    return [one.data["id"] for one in found]


def test_similar_questions_are_of_the_same_database_and_in_the_requested_form():
    desk = Desk(SolvedQuestions("m", ENTRIES))
    assert ids(solved_like(desk, "eicu", "code")) == ["eicu-2", "learnt-0", "eicu-1"]
    assert ids(solved_like(desk, "eicu", "actions")) == ["eicu-1"] and solved_like(desk, "treqs", "code") == []
    assert solved_like(Desk(None), "eicu", "code") == []


def test_seeds_stand_in_their_own_order():
    assert ids(seeds_of(Desk(SolvedQuestions("m", ENTRIES)), "eicu", "code")) == ["eicu-2", "eicu-1"]


@each_row(
    "update, right, learns",
    [("none", True, False), ("executed", False, True), ("gold", True, True), ("gold", False, False)],
)
async def test_an_outcome_teaches_what_the_memory_takes_in(update, right, learns):
    desk = Desk(SolvedQuestions("m", ENTRIES, update), right)
    await learn(desk, Answer("4"), {"database": "eicu", "question": "why?", "code": "answer = 4"})
    assert ("learnt" in desk.remarks) is learns
    step = SimpleNamespace(remarks=desk.remarks)
    assert len(lessons_in(SimpleNamespace(steps=[step, SimpleNamespace(remarks={})]))) == learns


async def test_an_episode_without_memory_learns_nothing():
    desk = Desk(None)
    await learn(desk, Answer("4"), {})
    assert desk.remarks == {}


def test_seeds_are_read_from_a_prompt_set(tmp_path):
    (tmp_path / "eicu.yaml").write_text("- {question: ' who? ', knowledge: ['- a', '- b'], code: 'answer = 1'}\n")
    (seed,) = own_seeds(str(tmp_path), databases=["eicu"])
    assert seed == Entry("eicu-1", "eicu", "who?", "- a\n- b", "answer = 1", seed=True)


def test_a_seed_without_a_question_is_refused(tmp_path):
    (tmp_path / "eicu.yaml").write_text("- {code: 'answer = 1'}\n")
    with pytest.raises(ConfigError, match=r"eicu\.yaml: demonstration 1 has no question"):
        own_seeds(str(tmp_path), databases=["eicu"])


def test_the_shipped_seeds_are_eight_of_each_database_in_every_form():
    seeds = own_seeds("ehr_demonstrations")
    assert len(seeds) == 32 and all(one.knowledge and one.code and one.actions and one.sql for one in seeds)
    assert len({(one.database, one.question) for one in seeds}) == 32
    assert own_seeds("ehr_demonstrations", 4) == tuple(one for one in seeds if int(one.id[-1]) <= 4)
