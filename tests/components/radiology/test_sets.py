from collections import Counter
from random import Random

import pytest

from components.radiology.sets import (
    baseline,
    config1,
    config1_facts,
    config2,
    config2_facts,
    config3,
    config3_facts,
    differentiated,
    high,
    medium,
    regular,
)
from components.radiology.study import Study, Vocabulary, study_of
from components.radiology.switches import Switches
from components.radiology.tasks import AC, AD, BQ, DD, DI, IE, OS, PAIRS, RG, TASKS, TR
from tests.golden.vectors import CODE, PAPER, dev
from tests.slow import slow
from tests.table import each_row

VECTORS = dev()


def at(pair):
    return Study({"Anatomy": pair[0], "Modality": pair[1]}, TASKS["012"], Vocabulary({}, {}))


def facts(expect, chain):
    return expect(study_of(VECTORS.sample("dev_chest_ct", chain)))


@each_row(
    "chain,accepted", [("012", [AC]), ("014", [DD, DI]), ("0126", [BQ]), ("0123568", [DD, DI]), ("012356789", [TR])]
)
def test_a_missing_category_is_universal(chain, accepted):
    found = facts(config1_facts, chain)
    assert found["accepted"] == accepted and found["ground_truth_code"] == accepted[0]
    assert (found["anatomy"], found["modality"], found["ability"]) == ("Universal", "Universal", "CategoryMissing")


@each_row("chain,accepted", [("0126", OS), ("0136", AD), ("014", DD), ("01235678", RG)])
def test_a_missing_tool_is_named_with_its_pair(chain, accepted):
    found = facts(config2_facts, chain)
    assert found["accepted"] == [accepted]
    assert (found["anatomy"], found["modality"], found["ability"]) == ("Chest", "CT", "SpecificToolMissing")


@each_row("chain,accepted", [("01235", [DD, DI]), ("0136", [BQ]), ("01348", [AD]), ("012356789", [IE])])
def test_a_lacking_capability_belongs_to_the_restricted_tools(chain, accepted):
    found = facts(config3_facts, chain)
    assert found["accepted"] == accepted and found["ability"] == "InsufficientCapability"


def test_the_references_categories_are_those_of_its_scorer():
    for data in VECTORS.data["trajectories"]:
        expected = data["expected"]["code_metrics"].get("ground_truth_category")
        expect = {"insufficient_config1": config1_facts, "insufficient_config3": config3_facts}.get(data["condition"])
        if expect and expected:
            assert facts(expect, data["chain"])["ground_truth_code"] == expected


@each_row("expect", [config1_facts, config2_facts, config3_facts])
def test_every_task_has_an_expected_refusal(expect):
    for chain in TASKS:
        assert set(facts(expect, chain)) == {
            "argument", "accepted", "anatomy", "modality", "ability", "ground_truth_code",
        }  # fmt: skip


DATA = dev().data
SMALL = {("Breast", "Mammography"): 23, ("Breast", "MRI"): 33, ("Breast", "Ultrasound"): 33}
SMALL |= {pair: 33 for pair in PAIRS if pair[0] == "Spine"}
CONFIG1 = {
    "012": 17, "013": 17, "014": 15, "0123": 16, "01235": 16, "0126": 17, "0136": 17, "01348": 16, "0123568": 15,
    "01235678": 14, "012356789": 17,
}  # fmt: skip
LARGE = {"014", "01235", "0123568", "01235678", "012356789"}


def study(pair=("Chest", "CT"), chain="012"):
    record = {**DATA["records"]["dev_chest_ct"], "Anatomy": pair[0], "Modality": pair[1]}
    return Study(record, TASKS[chain], Vocabulary(DATA["entities"], {}))


def places(cards, category):
    return [None if c.anatomy is None else (c.anatomy, c.modality) for c in cards if c.category == category]


def test_there_are_22_pairs():
    assert len(PAIRS) == len(set(PAIRS)) == 22


@pytest.mark.parametrize("switches", [CODE, PAPER])
def test_fixed_sets(switches):
    assert len(baseline(switches)) == 12
    cards = high(switches)
    assert len(cards) == len(set(cards)) == 169
    assert places(cards, OS) == places(cards, DD) == [None, *PAIRS]


@each_row("pair", PAIRS)
def test_regular_adds_at_most_one_foreign_tool_per_category(pair):
    assert list(regular(at(pair), Random(1), CODE)) == list(baseline(CODE))
    assert len(regular(at(pair), Random(1), Switches(regular_variant="code_basic_15"))) == 15
    sizes = set()
    for seed in range(30):
        cards = regular(at(pair), Random(seed), PAPER)
        sizes.add(len(cards))
        assert [c for c in cards if c.anatomy is None] == list(baseline(PAPER))
        for category in (OS, AD, DD):
            assert places(cards, category)[0] is None and pair not in places(cards, category)
            assert len(places(cards, category)) <= 2
    assert sizes == {12, 13, 14, 15}


@each_row("pair", PAIRS)
def test_medium_has_bound_tools_only(pair):
    code, paper = medium(at(pair), Random(3), CODE), medium(at(pair), Random(3), PAPER)
    assert len(code) == SMALL.get(pair, 34)
    assert len(paper) == (33 if pair in SMALL else 34)
    for cards in (code, paper):
        assert len(cards) == len(set(cards))
        for category in (OS, AD, DD, RG):
            found = places(cards, category)
            assert found[0] == pair and None not in found
        assert places(cards, RG).count(pair) == 4
    for category in (OS, AD, DD):
        foreign = set(places(paper, category)) - {pair}
        assert len(foreign) == 4
    assert len(set(places(paper, RG)) - {pair}) in (6, 7)


@slow
@each_row("chain", TASKS)
@each_row("pair", PAIRS)
def test_insufficient_and_differentiated_sizes(pair, chain):
    one = study(pair, chain)
    for seed in range(3):
        for switches in (CODE, PAPER):
            assert len(config1(one, Random(seed), switches)) == CONFIG1[chain]
            assert len(config3(one, Random(seed), switches)) == 18
            assert len(differentiated(one, Random(seed), switches)) == (18 if chain in LARGE else 17)
        assert len(config2(one, Random(seed), CODE)) == 17
        report = chain in ("0123568", "01235678", "012356789")
        assert len(config2(one, Random(seed), PAPER)) in ((15, 16, 17) if report else (17,))


def test_config2_has_only_foreign_anatomies_and_the_repaired_one_keeps_the_inferencer():
    for seed in range(20):
        for switches in (CODE, PAPER):
            cards = config2(study(("Chest", "CT"), "013"), Random(seed), switches)
            assert all(place is not None and place[0] != "Chest" for place in places(cards, AD))
            assert (DI in {c.category for c in cards}) == (switches is PAPER)
    sizes = {len(places(config2(study(chain="0123568"), Random(seed), PAPER), RG)) for seed in range(30)}
    assert sizes == {1, 2, 3}


ENTITIES = [
    ("012", {OS: 2}), ("013", {AD: 2}), ("014", {DD: 2, DI: 1}), ("0126", {BQ: 1}), ("0136", {BQ: 1}),
    ("01235678", {IE: 2}),
]  # fmt: skip


@each_row("chain,restricted", ENTITIES)
def test_config3_restricts_one_entity_to_one_list_without_the_records_own(chain, restricted):
    lengths = set()
    for seed in range(20):
        for switches in (CODE, PAPER):
            cards = [c for c in config3(study(chain=chain), Random(seed), switches) if c.supported]
            assert Counter(c.category for c in cards) == restricted
            (listed,) = {c.supported for c in cards}
            lengths.add(len(listed))
            assert not set(listed) & {"Right lung", "Spiculated nodule", "Primary lung adenocarcinoma"}
            own = {"0126": "volume", "0136": "diameter"}.get(chain, "Fleischner category")
            assert own not in listed
            if switches is PAPER:
                assert own not in [entry.casefold() for entry in listed]
    assert lengths == {3, 4, 5}


BEST = [("012", {OS: 1}), ("014", {DD: 1, DI: 1}), ("0136", {BQ: 1}), ("01235678", {IE: 2})]


@each_row("chain,restricted", BEST)
def test_differentiated_restricts_tools_that_fit_and_are_best(chain, restricted):
    for seed in range(10):
        cards = differentiated(study(chain=chain), Random(seed), PAPER)
        held = [c for c in cards if c.supported]
        assert Counter(c.category for c in held) == restricted
        for one in held:
            assert one.anatomy in (None, "Chest") and len(one.supported) in (4, 5)
            rivals = [c for c in cards if c.category == one.category and c.variant == one.variant and not c.supported]
            assert all(rival.upper < one.upper for rival in rivals)


def test_draws_come_from_rng_alone():
    for build in (config1, config2, config3, differentiated):
        for chain in TASKS:
            one = study(chain=chain)
            assert build(one, Random(5), PAPER) == build(one, Random(5), PAPER)
    chest = at(("Chest", "CT"))
    assert any(medium(chest, Random(1), CODE) != medium(chest, Random(n), CODE) for n in (2, 3))
