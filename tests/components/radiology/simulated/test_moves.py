from types import MappingProxyType

from components.core.messages import Message
from components.core.types import Sample
from components.radiology.simulated.moves import decide
from components.radiology.simulated.reading import Card, Situation
from components.radiology.tasks import AC, AD, BQ, DI, MC, OS
from components.simulation.draws import Draws, Rates
from tests.golden.vectors import dev

CHEST = ("Chest", "CT")
PLAN = ((AC, None), (MC, None), (OS, None))
SAMPLE = dev().sample("dev_chest_ct", "012")


def tool(name, category, pair=None, upper=0.8, listed=None, kind=None, needs=("$Image$",), optional=()) -> Card:
    return Card(name, category, kind, pair, listed, needs, optional, (), upper)


A, M = tool("A", AC, upper=0.95), tool("M", MC, upper=0.95)


def move(
    *cards,
    called=(A, M),
    memory=(),
    plan=PLAN,
    down=(),
    sample: Sample | None = SAMPLE,
    may_refuse=True,
    seed=0,
    **rates,
):
    known = {"$Image$": "x", "$Anatomy$": "Chest", "$Modality$": "CT", **dict(memory)}
    shown = {card.name: card for card in (A, M, *cards)}
    situation = Situation(MappingProxyType(shown), known, plan, tuple(called), down=frozenset(down))
    return decide(situation, sample, may_refuse, Rates(**rates), Draws(seed, [Message("user", "x")]))


def test_the_first_step_that_no_finished_call_covers_comes_next():
    os = tool("O", OS)
    assert move(os, called=()).card is A
    assert move(os, called=(A,)).card is M
    assert move(os).card is os
    assert [move(os, called=called).last for called in ((), (A,), (A, M))] == [False, False, True]
    assert move(os, called=(A, M, os)).card is None


def test_without_a_plan_the_question_determines_the_steps():
    assert move(tool("O", OS), plan=()).card.category == OS
    assert move(tool("O", OS), plan=(), sample=None).card is None


def test_the_best_tool_that_fits_is_taken():
    cards = [tool("U", OS), tool("B", OS, CHEST, 0.85), tool("R", OS, upper=0.9, listed=("Right lung",)),
             tool("X", OS, ("Limb", "CT"), 0.94), tool("Y", OS, upper=0.94, listed=("Liver",))]  # fmt: skip
    assert move(*cards).card.name == "R"
    assert move(*cards[:2], *cards[3:]).card.name == "B"


def test_a_second_choice_fits_and_has_its_inputs_and_is_not_the_best():
    tools = (
        tool("U", OS),
        tool("C", OS, CHEST, 0.95),
        tool("D", OS, CHEST, 0.9),
        tool("N", OS, CHEST, 0.85, needs=("$X$",)),
    )
    assert {move(*tools, second_choice=1.0, seed=n).card.name for n in range(20)} == {"U", "D"}
    assert move(tool("C", OS, CHEST), second_choice=1.0).card.name == "C"


def test_quantifiers_are_chosen_by_their_type():
    organ, anomaly = tool("O", BQ, kind="Organ"), tool("N", BQ, kind="Anomaly")
    assert move(organ, anomaly, plan=((BQ, "Anomaly"),)).card is anomaly
    assert move(organ, anomaly, plan=((BQ, "Anomaly"), (BQ, "Organ")), called=(anomaly,)).card is organ


def test_inputs_are_the_compulsory_and_the_optional_ones_at_hand():
    one = tool("D", DI, needs=("$Image$", "$OrganMask$"), optional=("$OrganObject$", "$AnomalyObject$", "$Image$"))
    found = move(one, plan=((DI, None),), memory={"$OrganObject$": "lung"}.items())
    assert found.inputs == ("$Image$", "$OrganMask$", "$OrganObject$")


def test_the_grounds_of_a_refusal_name_the_check_that_fails():
    record = SAMPLE.metadata["record"]
    for cards, place, ability in (
        ((), ("Universal", "Universal"), "CategoryMissing"),
        ((tool("X", OS, ("Limb", "CT")),), CHEST, "SpecificToolMissing"),
        ((tool("Y", OS, listed=("Liver",)), tool("Z", OS, CHEST, listed=("Liver",))), CHEST, "InsufficientCapability"),
    ):
        grounds = move(*cards).grounds
        assert (grounds["category"], grounds["ability"]) == (OS, ability)
        assert (grounds["anatomy"], grounds["modality"]) == place
    assert (record["Anatomy"], record["Modality"]) == CHEST


def test_without_refusal_or_if_the_gap_is_missed_it_tries_the_available_tools():
    bad = tool("X", OS, ("Limb", "CT"))
    assert move(bad, may_refuse=False).card is bad
    assert move(bad, ignored_refusal=1.0).card is bad
    assert move(ignored_refusal=1.0).card is None


def test_a_gap_in_a_later_step_is_noticed_before_the_first_call():
    """The prompt asks to check before each call that every kind of tool the task needs is there."""
    plan = (*PLAN, (AD, None))
    assert move(tool("O", OS), plan=plan, called=()).grounds["category"] == AD


def test_a_wrong_tool_is_not_the_right_one():
    cards = [tool("O", OS), tool("N", AD)]
    assert all(
        decide(
            Situation({c.name: c for c in cards}, {"$Image$": "x"}, ((OS, None),)), None, False, Rates(wrong_tool=1.0),
            Draws(seed, [Message("user", "x")]),
        ).card.name == "N"
        for seed in range(20)
    )  # fmt: skip


def test_a_tool_that_is_down_is_left_for_another_or_the_step_is_left():
    best, other = tool("best", OS, upper=0.9), tool("other", OS, upper=0.6)
    assert move(best, other).card is best
    assert move(best, other, down=("best",)).card is other
    assert move(best, other, down=("best", "other")).card is None
