import os
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.medcalc.__main__ import main, outcomes
from tests.benchmarks.medcalc_folder import PRESSURE, row, write

DATA = os.environ.get("CLINICAL_DATA_DIR", "")
# Calculator -> test rows of 2024-11-22 whose gold answer is wrong (see the docstring of the check).
WRONG = {
    "corrected_calcium": 1, "ldl_cholesterol": 1, "due_date": 6, "child_pugh": 7, "revised_cardiac_risk_index": 5,
    "glasgow_coma_score": 5, "meld_na": 3, "glasgow_blatchford": 2, "apache_ii": 5, "charlson": 5, "caprini": 6,
    "sofa": 6, "framingham_hard_chd": 6, "sirs": 3,
}  # fmt: skip


def test_the_check_counts_rows_and_names_those_that_differ(tmp_path, monkeypatch, capsys):
    wrong = {**PRESSURE, "Systolic Blood Pressure": [1.2, "parsecs"]}
    rows = [row(5, PRESSURE, "100", "95", "105"), row(5, PRESSURE, "90"), row(5, wrong, "100")]
    monkeypatch.setenv("CLINICAL_DATA_DIR", str(write(tmp_path, rows)))
    assert main() == 0
    lines = capsys.readouterr().out.splitlines()
    counts = {line[4:36].strip(): line[36:].split() for line in lines if line.startswith("  5 ")}
    assert counts == {"mean_arterial_pressure": ["1/3", "1/1", "1/1"]}
    assert "test_data.csv row 2: mean_arterial_pressure gives 100, not 90 (90 to 90)" in lines
    assert lines[-1].startswith("test_data.csv row 3: mean_arterial_pressure gives 'parsecs' is not a known unit")
    assert [line.split() for line in lines if line.startswith("total")] == [["total", "1/3", "2/2", "2/2"]]


def test_a_worked_example_that_differs_fails_the_check(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CLINICAL_DATA_DIR", str(write(tmp_path, worked=80.0)))
    assert main() == 1
    assert "mean_arterial_pressure gives 80, not 80.0 (95 to 105)" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["", "empty"])
def test_without_data_the_check_explains_how_to_get_them(tmp_path, monkeypatch, capsys, place):
    monkeypatch.setenv("CLINICAL_DATA_DIR", str(tmp_path / place) if place else "")
    assert main() == 2
    assert "CLINICAL_DATA_DIR" in capsys.readouterr().err


def test_an_unknown_calculator_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CLINICAL_DATA_DIR", str(write(tmp_path, [row(1000, {}, "1")])))
    assert main() == 2
    assert "there is no calculator 1000" in capsys.readouterr().err


@pytest.mark.skipif(not (Path(DATA) / "medcalc_bench").is_dir(), reason="needs CLINICAL_DATA_DIR with medcalc_bench")
def test_all_rows_agree_except_those_with_a_wrong_gold_answer():
    done = list(outcomes(Path(DATA)))
    worked = [one for one in done if one.part != "test"]
    assert len(worked) == 110 and [one for one in worked if not one.right] == []
    test = [one for one in done if one.part == "test"]
    assert len(test) == 300 and Counter(one.name for one in test if not one.right) == WRONG
