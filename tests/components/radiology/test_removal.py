import pytest

from components.radiology.removal import config1_facts, config2_facts, config3_facts
from components.radiology.study import study_of
from components.radiology.tasks import AC, AD, BQ, DD, DI, IE, OS, RG, TASKS, TR
from tests.golden.vectors import dev

VECTORS = dev()


def facts(expect, chain):
    return expect(study_of(VECTORS.sample("dev_chest_ct", chain)))


@pytest.mark.parametrize(
    "chain,accepted", [("012", [AC]), ("014", [DD, DI]), ("0126", [BQ]), ("0123568", [DD, DI]), ("012356789", [TR])]
)
def test_a_missing_category_is_universal(chain, accepted):
    found = facts(config1_facts, chain)
    assert found["accepted"] == accepted and found["ground_truth_code"] == accepted[0]
    assert (found["anatomy"], found["modality"], found["ability"]) == ("Universal", "Universal", "CategoryMissing")


@pytest.mark.parametrize("chain,accepted", [("0126", OS), ("0136", AD), ("014", DD), ("01235678", RG)])
def test_a_missing_tool_is_named_with_its_pair(chain, accepted):
    found = facts(config2_facts, chain)
    assert found["accepted"] == [accepted]
    assert (found["anatomy"], found["modality"], found["ability"]) == ("Chest", "CT", "SpecificToolMissing")


@pytest.mark.parametrize("chain,accepted", [("01235", [DD, DI]), ("0136", [BQ]), ("01348", [AD]), ("012356789", [IE])])
def test_a_lacking_capability_is_of_the_restricted_tools(chain, accepted):
    found = facts(config3_facts, chain)
    assert found["accepted"] == accepted and found["ability"] == "InsufficientCapability"


def test_the_references_categories_are_those_of_its_scorer():
    for data in VECTORS.data["trajectories"]:
        expected = data["expected"]["code_metrics"].get("ground_truth_category")
        expect = {"insufficient_config1": config1_facts, "insufficient_config3": config3_facts}.get(data["condition"])
        if expect and expected:
            assert facts(expect, data["chain"])["ground_truth_code"] == expected


@pytest.mark.parametrize("expect", [config1_facts, config2_facts, config3_facts])
def test_every_task_has_an_expected_refusal(expect):
    for chain in TASKS:
        assert set(facts(expect, chain)) == {
            "argument", "accepted", "anatomy", "modality", "ability", "ground_truth_code",
        }  # fmt: skip
