from random import Random

import pytest

from components.radiology.sets import baseline, config1, config2, config3, differentiated, high, medium, regular
from components.radiology.solvable import solvable
from components.radiology.study import study_of
from components.radiology.tasks import IE, TASKS
from tests.golden.vectors import CODE, PAPER, dev

VECTORS = dev()
STUDIES = [study_of(VECTORS.sample(record, chain)) for record in VECTORS.data["records"] for chain in TASKS]


@pytest.mark.parametrize("build", [config1, config2, config3])
def test_no_insufficient_set_is_solvable(build):
    for study in STUDIES:
        for seed in range(5):
            assert not solvable(build(study, Random(seed), PAPER), study, PAPER), (study.task.id, seed)


def test_all_other_sets_are_solvable():
    for study in STUDIES:
        pair = study.pair
        sets = [baseline(PAPER), high(PAPER), regular(pair, Random(1), PAPER), medium(pair, Random(1), PAPER)]
        for cards in (*sets, differentiated(study, Random(1), PAPER)):
            assert solvable(cards, study, PAPER), study.task.id


def test_the_reference_cannot_execute_chains_with_an_indicator_nor_fail_for_a_list():
    for study in STUDIES:
        assert solvable(baseline(CODE), study, CODE) == (IE not in study.task.categories)
        assert solvable(config3(study, Random(1), CODE), study, CODE) == (IE not in study.task.categories)
