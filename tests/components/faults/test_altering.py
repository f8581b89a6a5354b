from components.core.tools import NoState
from components.core.types import Observation
from components.faults.altering import has_values, revalued
from components.radiology.memory import open_memory
from tests.failing import STUDY
from tests.golden.vectors import PAPER

SEEN = Observation("", {"outputs": {"$Anatomy$": "Chest", "$OrganMask$": "PLACEHOLDER"}, "score": 0.5})


def memory():
    return open_memory(STUDY.metadata["record"], "012", PAPER)


def test_values_change_in_memory_and_in_what_is_said():
    state = memory()
    found = revalued("noisy", SEEN, state, lambda name, _: "Limb" if name == "$Anatomy$" else None, amount=1)
    assert found.text == '{"$Anatomy$":"Limb","$OrganMask$":"PLACEHOLDER","score":0.5}'
    assert found.data["faults"] == [{"kind": "noisy", "changes": {"$Anatomy$": ["Chest", "Limb"]}, "amount": 1}]
    assert state.values["$Anatomy$"] == "Limb" and state.wrong == {"$Anatomy$": "Limb"}


def test_what_is_wrong_of_what_is_shown_may_be_told_apart():
    found = revalued(
        "x", SEEN, memory(), lambda name, value: f"{value} or Limb", {"$Anatomy$": "Limb", "$OrganMask$": ""}
    )
    assert found.data["faults"][0]["changes"]["$Anatomy$"] == ["Chest", "Limb"]


def test_where_nothing_changes_nothing_is_marked():
    state = memory()
    assert revalued("noisy", SEEN, state, lambda *_: None) is SEEN and state.wrong == {}


def test_only_tools_over_a_memory_have_values():
    assert has_values(SEEN, memory()) and not has_values(SEEN, NoState()) and not has_values(Observation(""), memory())
