from dataclasses import replace
from random import Random

import pytest

from components.core.errors import ConfigError
from components.core.protocols import Condition
from components.core.tools import Offer
from components.radiology.conditions import (
    Baseline,
    Differentiated,
    InsufficientConfig1,
    InsufficientConfig2,
    InsufficientConfig3,
    RedundantHigh,
    RedundantMedium,
    RedundantRegular,
)
from components.radiology.execution import solvable
from components.radiology.sets import baseline
from components.radiology.study import Vocabulary, study_of
from components.radiology.tasks import DI, REFUSAL_FIELDS, TASKS
from components.radiology.toolset import Radiology, RadiologyTool
from tests.golden.vectors import CODE, PAPER, dev
from tests.table import each_row

VECTORS = dev()
SAMPLE = VECTORS.sample("dev_chest_ct", "012")


def test_the_reference_keeps_the_construction_order():
    assert isinstance(Baseline(), Condition)
    found = Baseline(CODE).offer(Radiology(CODE).open(SAMPLE), SAMPLE, Random(1))
    assert tuple(tool.card for tool in found.tools.values()) == baseline(CODE)
    assert found.facts == {"condition": "baseline", "kind": "baseline"} and not found.may_refuse


def test_the_place_of_a_tool_does_not_give_it_away():
    offers = [Baseline(PAPER).offer(Radiology(PAPER).open(SAMPLE), SAMPLE, Random(n)) for n in range(30)]
    assert len({offer.tools["TOOL1"].spec.facts["category"] for offer in offers}) > 5
    assert all(len(offer.tools) == 12 for offer in offers)


@each_row("chain", TASKS)
def test_a_restricted_tool_lists_the_records_entity(chain):
    sample = VECTORS.sample("dev_abdo_us", chain)
    for switches in (CODE, PAPER):
        assert isinstance(Differentiated(switches), Condition)
        offer = Differentiated(switches).offer(Radiology(switches).open(sample), sample, Random(2))
        assert len(offer.tools) in (17, 18)
        assert offer.facts["kind"] == offer.facts["condition"] == "differentiated"
        listed = [tool.spec.facts["supported"] for tool in offer.tools.values() if tool.spec.facts["supported"]]
        own = {"Gallbladder", "Echogenic focus with shadowing", "Acute calculous cholecystitis", "thickness", "size"}
        assert listed and all(entries[0] in own | {"Tokyo severity grade"} for entries in listed)


INSUFFICIENT = [
    (InsufficientConfig1, "insufficient_config1", "CategoryMissing"),
    (InsufficientConfig2, "insufficient_config2", "SpecificToolMissing"),
    (InsufficientConfig3, "insufficient_config3", "InsufficientCapability"),
]
KEYS = {"condition", "kind", "argument", "accepted", "anatomy", "modality", "ability", "ground_truth_code"}


def offer_of(made, sample, switches, seed=1):
    return made(switches).offer(Radiology(switches).open(sample), sample, Random(seed))


@each_row("made,name,ability", INSUFFICIENT)
@each_row("chain", TASKS)
def test_a_task_that_cannot_be_done_may_be_refused(made, name, ability, chain):
    sample = VECTORS.sample("dev_limb_xray", chain)
    for switches in (CODE, PAPER):
        assert isinstance(made(switches), Condition)
        offer = offer_of(made, sample, switches)
        assert offer.refusal_fields == REFUSAL_FIELDS and offer.may_refuse
        assert offer.validates == (name == "insufficient_config3")
        assert set(offer.facts) == KEYS
        assert (offer.facts["condition"], offer.facts["kind"]) == (name, "insufficient")
        assert offer.facts["ability"] == ability
    tools = [tool for tool in offer_of(made, sample, PAPER).tools.values() if isinstance(tool, RadiologyTool)]
    assert all(tool.registered for tool in tools)
    assert not solvable([tool.card for tool in tools], study_of(sample), PAPER)


def test_the_reference_describes_an_inferencer_that_cannot_be_called():
    sample = VECTORS.sample("dev_limb_xray", "014")
    tools = [t for t in offer_of(InsufficientConfig3, sample, CODE).tools.values() if isinstance(t, RadiologyTool)]
    assert [t.card.category for t in tools if not t.registered] == [DI]


def test_a_set_that_is_sufficient_after_all_is_refused():
    sample = VECTORS.sample("dev_limb_xray", "012")
    empty = replace(sample, metadata={**sample.metadata, "vocabulary": Vocabulary({}, {})})
    with pytest.raises(ConfigError, match=r"insufficient_config3 leaves sample 'dev_limb_xray/012' solvable"):
        offer_of(InsufficientConfig3, empty, PAPER)


@each_row("made,name,ability", INSUFFICIENT)
def test_draws_come_from_rng_alone(made, name, ability):
    sample = VECTORS.sample("dev_abdo_us", "0123568")
    first, again, other = (offer_of(made, sample, PAPER, seed) for seed in (4, 4, 5))
    specs = [[tool.spec for tool in offer.tools.values()] for offer in (first, again, other)]
    assert specs[0] == specs[1] != specs[2]


BREAST = VECTORS.sample("dev_breast_mammo", "012")
REDUNDANT = [
    (RedundantRegular, "redundant_regular", {12}, {12, 13, 14, 15}),
    (RedundantMedium, "redundant_medium", {23}, {33}),
    (RedundantHigh, "redundant_high", {169}, {169}),
]


@each_row("made,name,code,paper", REDUNDANT)
def test_more_tools_than_needed_are_offered(made, name, code, paper):
    for switches, sizes in ((CODE, code), (PAPER, paper)):
        condition = made(switches)
        assert isinstance(condition, Condition)
        found = [condition.offer(Radiology(switches).open(BREAST), BREAST, Random(n)) for n in range(12)]
        assert {len(offer.tools) for offer in found} <= sizes
        assert found[0].facts == {"condition": name, "kind": "redundant"} and not found[0].may_refuse
        again = condition.offer(Radiology(switches).open(BREAST), BREAST, Random(3))
        assert [t.spec for t in again.tools.values()] == [t.spec for t in found[3].tools.values()]


@each_row("made", [Baseline, Differentiated, *(row[0] for row in (*REDUNDANT, *INSUFFICIENT))])
def test_another_toolset_is_refused(made):
    with pytest.raises(ConfigError, match=f"condition '{made.row.name}' needs toolset=radiology"):
        made().offer(Offer({}), SAMPLE, Random(1))
