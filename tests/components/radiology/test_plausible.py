from random import Random

from components.radiology.memory import open_memory
from components.radiology.study import recorded_value, study_of
from components.radiology.tasks import ANATOMIES, MODALITIES, PAIRS, VARIABLES, var
from components.text.words import stands_in
from tests.failing import STUDY
from tests.golden.vectors import PAPER
from tests.table import each_row

OWN = study_of(STUDY)


def plausible(name, wrong, rng):
    memory = open_memory(OWN.record, OWN.task.id, PAPER, OWN.vocabulary)
    return memory.plausible(name, wrong, rng)


WRITTEN = [var(name) for name in VARIABLES if name not in ("Image", "Information")]


@each_row("name", WRITTEN)
def test_a_wrong_value_is_a_text_of_its_kind_and_not_the_right_one(name):
    right = recorded_value(OWN.record, name)
    for seed in range(20):
        wrong = plausible(name, {}, Random(seed))
        assert isinstance(wrong, str) and wrong.strip()
        assert (wrong == right) == name.endswith("Mask$")


def test_anatomy_and_modality_stay_a_pair_that_exists():
    for seed in range(20):
        assert (plausible("$Anatomy$", {}, Random(seed)), OWN.pair[1]) in PAIRS
        assert (OWN.pair[0], plausible("$Modality$", {}, Random(seed))) in PAIRS
    assert OWN.pair[0] in ANATOMIES and OWN.pair[1] in MODALITIES


def test_a_report_repeats_what_is_wrong_already():
    report = recorded_value(OWN.record, "$Report$")
    name = next(name for name in WRITTEN if stands_in(str(recorded_value(OWN.record, name)), report))
    report_text = plausible("$Report$", {name: "a kite"}, Random(1))
    assert "a kite" in report_text and not stands_in(recorded_value(OWN.record, name), report_text)
    assert plausible("$Treatment$", {"$Disease$": "Gout"}, Random(1)).startswith("As for Gout. ")


def test_the_same_numbers_draw_the_same_value():
    assert plausible("$Disease$", {}, Random(3)) == plausible("$Disease$", {}, Random(3))
