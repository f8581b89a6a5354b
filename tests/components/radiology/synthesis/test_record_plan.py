from time import perf_counter

import pytest

from components.core.errors import ConfigError
from components.radiology.synthesis.record_plan import cells_of
from components.radiology.tasks import PAIRS


def cells(path=None, anatomies=None, modalities=None, per_pair=1, per_disease=1, seed=0):
    return cells_of("synthesize", path, anatomies, modalities, per_pair, per_disease, seed)


def test_every_pair_has_diseases_of_ours_each_once():
    every = cells(per_pair=None)
    assert list(dict.fromkeys((one.anatomy, one.modality) for one in every)) == list(PAIRS) and len(every) == 66
    assert len({one.disease for one in every}) == 66 == len({one.id for one in every})


def test_a_draw_goes_by_the_seed_and_records_are_numbered():
    assert len(cells()) == 22 and cells() == cells() != cells(seed=1)
    chest = cells(anatomies=["Chest"], modalities=["CT", "Mammography"], per_disease=2)
    assert [(one.anatomy, one.modality, one.id[-2:]) for one in chest] == [("Chest", "CT", "-1"), ("Chest", "CT", "-2")]


def test_many_records_are_planned_in_a_moment():
    began = perf_counter()
    assert len(cells(per_pair=None, per_disease=1000)) == 66_000
    assert perf_counter() - began < 10


@pytest.mark.parametrize("none", [{"anatomies": []}, {"modalities": []}])
def test_an_empty_list_is_not_all(none):
    with pytest.raises(ConfigError, match="no disease is left to write about"):
        cells(**none)


def test_a_table_of_one_s_own_takes_the_place_of_ours(tmp_path):
    path = tmp_path / "diseases.csv"
    path.write_text("disease,anatomy,modality\nRare pneumonitis,Chest,CT\n")
    (only,) = cells(str(path))
    assert (only.id, only.disease) == ("chest-ct-rare-pneumonitis-1", "Rare pneumonitis")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("anatomy,disease\nChest,x\n", "has no column 'modality'"),
        ("anatomy,modality,disease\nChest,Mammography,x\n", "line 2: no pair 'Chest', 'Mammography'"),
        ("anatomy,modality,disease\nChest,CT,\n", "line 2: the disease is missing"),
        ("anatomy,modality,disease\nChest,CT,x\nChest,CT,X!\n", "would be written twice"),
        ("anatomy,modality,disease\n", "no disease is left"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path, text, said):
    path = tmp_path / "diseases.csv"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        cells(str(path), per_pair=None)
    with pytest.raises(ConfigError, match="there is no such file"):
        cells(str(tmp_path / "x.csv"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"anatomy,modality,disease\nChest,CT,\xe9\n", "diseases.csv: byte 34 is not UTF-8"),
        (b'anatomy,modality,disease\nChest,CT,"' + b"x" * 200_000, "diseases.csv cannot be read: field larger than"),
    ],
)
def test_a_table_that_nobody_can_read_is_named(tmp_path, data, said):
    path = tmp_path / "diseases.csv"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=said):
        cells(str(path))
