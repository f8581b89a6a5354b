from dataclasses import replace
from random import Random

import pytest

from components.core.errors import ConfigError
from components.core.protocols import Condition
from components.core.tools import Offer
from components.radiology.conditions.insufficient import InsufficientConfig1, InsufficientConfig2, InsufficientConfig3
from components.radiology.solvable import solvable
from components.radiology.study import study_of
from components.radiology.tasks import DI, REFUSAL_FIELDS, TASKS
from components.radiology.tool import RadiologyTool
from components.radiology.toolset import Radiology
from components.radiology.vocabulary import Vocabulary
from tests.golden.vectors import CODE, PAPER, dev

VECTORS = dev()
CASES = [
    (InsufficientConfig1, "insufficient_config1", "CategoryMissing"),
    (InsufficientConfig2, "insufficient_config2", "SpecificToolMissing"),
    (InsufficientConfig3, "insufficient_config3", "InsufficientCapability"),
]
KEYS = {"condition", "kind", "argument", "accepted", "anatomy", "modality", "ability", "ground_truth_code"}


def offer_of(made, sample, switches, seed=1):
    return made(switches).offer(Radiology(switches).open(sample), sample, Random(seed))


@pytest.mark.parametrize("made,name,ability", CASES)
@pytest.mark.parametrize("chain", TASKS)
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


@pytest.mark.parametrize("made,name,ability", CASES)
def test_another_toolset_is_refused(made, name, ability):
    with pytest.raises(ConfigError, match=f"'{name}' needs toolset=radiology"):
        made().offer(Offer({}), VECTORS.sample("dev_limb_xray", "012"), Random(1))


@pytest.mark.parametrize("made,name,ability", CASES)
def test_draws_come_from_rng_alone(made, name, ability):
    sample = VECTORS.sample("dev_abdo_us", "0123568")
    first, again, other = (offer_of(made, sample, PAPER, seed) for seed in (4, 4, 5))
    specs = [[tool.spec for tool in offer.tools.values()] for offer in (first, again, other)]
    assert specs[0] == specs[1] != specs[2]
