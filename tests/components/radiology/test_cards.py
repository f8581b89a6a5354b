import json

import pytest

from components.radiology.cards import BINDABLE, RESTRICTABLE, TOOLS, VARIANTS, bounds, card, spec
from components.radiology.tasks import AC, AD, BQ, CATEGORIES, DD, DI, IE, OS, RG, TR, VARIABLES
from tests.golden.vectors import CODE, PAPER
from tests.table import each_row


def test_the_table_holds_every_category_and_all_variables_but_one_are_known():
    assert {category for category, _ in TOOLS} == set(CATEGORIES) and len(TOOLS) == 15
    assert all({*row["inputs"], *row["outputs"]} <= set(VARIABLES) for row in TOOLS.values())
    assert {name for row in TOOLS.values() for name in row["optional"]} - set(VARIABLES) == {"ValueName"}


def test_only_tools_with_optional_inputs_have_a_step():
    for row in TOOLS.values():
        lower, upper, bound_lower, bound_upper, step = row["bounds"]
        assert (step > 0) == bool(row["optional"]) == (upper > lower)
        assert 0 < lower <= bound_lower <= bound_upper <= 0.98


CHEST_CT = ("Chest", "CT")
LISTED = ["left lung", "spleen", "liver", "aorta", "heart"]
# Lower and upper bound of a tool restricted to 3, 4 and 5 entries.
TABLE = [
    (OS, None, None, (0.92, 0.92), (0.905, 0.905), (0.89, 0.89)),
    (OS, None, CHEST_CT, (0.93, 0.93), (0.92, 0.92), (0.91, 0.91)),
    (AD, None, None, (0.91, 0.91), (0.89, 0.89), (0.87, 0.87)),
    (AD, None, CHEST_CT, (0.92, 0.92), (0.905, 0.905), (0.89, 0.89)),
    (DD, None, None, (0.90, 0.90), (0.875, 0.875), (0.85, 0.85)),
    (DD, None, CHEST_CT, (0.91, 0.91), (0.89, 0.89), (0.87, 0.87)),
    (DI, None, None, (0.92, 0.92), (0.905, 0.905), (0.89, 0.89)),
    (IE, "Organ", None, (0.92, 0.92), (0.905, 0.905), (0.89, 0.89)),
    (BQ, "Anomaly", None, (0.87, 0.92), (0.855, 0.905), (0.84, 0.89)),
]


@each_row("category,variant,pair,three,four,five", TABLE)
def test_a_shorter_list_moves_a_tool_closer_to_its_best(category, variant, pair, three, four, five):
    for n, expected in ((3, three), (4, four), (5, five)):
        one = card(category, variant, pair, LISTED[:n], switches=PAPER)
        assert (one.lower, one.upper) == pytest.approx(expected)
    alone = card(category, variant, pair, LISTED[:1], switches=PAPER)
    assert alone.upper == 0.95
    assert card(category, variant, pair, [], switches=PAPER) == card(category, variant, pair, switches=PAPER)


def test_a_long_list_changes_no_bounds():
    assert bounds(0.8, 0.8, 11) == bounds(0.8, 0.8, 40) == (0.8, 0.8)


def test_a_tool_has_the_same_facts_under_any_name():
    one = card(OS, switches=PAPER)
    assert spec(one, "TOOL1").facts == spec(one, "TOOL2").facts


def test_the_indicators_value_is_an_optional_input_where_the_switch_says_so():
    for category, variant in ((RG, "Text"), (RG, "Text and Mask"), (TR, None)):
        assert "$IndicatorValue$" not in card(category, variant, switches=CODE).optional
        paper = card(category, variant, switches=PAPER)
        assert "$IndicatorValue$" in paper.optional
        assert paper.upper == card(category, variant, switches=CODE).upper
    for category, variant in ((RG, "Mask"), (BQ, "Organ")):
        assert card(category, variant, switches=PAPER) == card(category, variant, switches=CODE)


@each_row(
    "arguments",
    [(OS, "Basic"), (RG,), (BQ,), (AC, None, CHEST_CT), (DI, None, CHEST_CT), (RG, "Text", None, ["a"]), ("Other",)],
)
def test_a_tool_that_the_benchmark_lacks_is_refused(arguments):
    with pytest.raises(ValueError, match=r"there is no"):
        card(*arguments, switches=PAPER)


def test_the_card_shows_the_eight_fields_and_nothing_else():
    shown = json.loads(spec(card(OS, pair=CHEST_CT, supported=LISTED, switches=PAPER), "TOOL7").card_text)
    assert list(shown) == [
        "Name", "Category", "Ability", "Property", "Compulsory Input", "Optional Input", "Output", "Performance",
    ]  # fmt: skip
    assert shown["Name"] == "TOOL7" and shown["Compulsory Input"] == ["$Image$"]
    assert shown["Ability"].endswith("[left lung; spleen; liver; aorta; heart]")
    assert shown["Property"] == "Organ Segmentor (Chest, CT)"


@each_row("category", sorted(BINDABLE))
def test_bound_tools_say_that_they_take_no_anatomy_or_modality(category):
    variant = "Basic" if category == RG else None
    text = spec(card(category, variant, CHEST_CT, switches=PAPER), "TOOL1").description
    assert "CT images of Chest only" in text and "does not take $Anatomy$ or $Modality$" in text
    assert "does not take" not in spec(card(category, variant, switches=PAPER), "TOOL1").description


@each_row("category", CATEGORIES)
def test_a_native_description_holds_what_the_card_holds(category):
    variant = {RG: VARIANTS[-1], BQ: "Organ", IE: "Anomaly"}.get(category)
    listed = ["spleen", "liver"] if category in RESTRICTABLE else None
    one = card(category, variant, None, listed, switches=PAPER)
    text = spec(one, "T").description
    for part in (*one.compulsory, *one.optional, *one.outputs, *(listed or ()), one.category, f"{one.upper:g}"):
        assert part in text
    assert spec(one, "T").parameters["required"] == ["purpose", "input"]


def test_facts_are_the_card():
    one = card(RG, "Mask", CHEST_CT, switches=PAPER)
    assert one.facts["supported"] is None and one.facts["anatomy"] == "Chest" and one.facts["variant"] == "Mask"
    assert list(one.facts) == list(one.__dataclass_fields__)
