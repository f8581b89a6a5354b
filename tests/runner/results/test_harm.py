import json

import numpy as np
import pytest

from benchmarks.coverage_harm import simulated
from components.core.score_names import EXPECTED, JUDGED, RATED
from runner.report import main
from runner.results.kinds import Scale
from runner.results.metrics import metrics
from runner.results.runs import Run
from runner.results.sections.harm import expected_harm, gap, harm
from runner.results.sheets import Value
from runner.results.table import Table
from tests.runner.results.folders import CFG, write
from tests.slow import slow


def record(sample, value, cluster=None, scores=None, **strata):
    return {
        "sample_id": sample, "epoch": 0, "cluster": cluster, "strata": strata, "stop": "answered", "seconds": 0.1,
        "scores": {EXPECTED: value} if scores is None else scores, "usage": {},
    }  # fmt: skip


def table_of(values, clusters):
    rows = enumerate(zip(values, clusters, strict=True))
    return Table.of([record(f"s{n:04d}", value, f"c{cluster}") for n, (value, cluster) in rows])


def gap_of(values, clusters, mine):
    table = table_of(values, clusters)
    return gap(table, table.values(EXPECTED), np.asarray(mine, dtype=bool))


def test_a_gap_of_independent_proportions_is_newcombes_interval():
    from statsmodels.stats.proportion import confint_proportions_2indep

    values, mine = np.array([1.0] * 9 + [0.0] * 21 + [1.0] * 6 + [0.0] * 44), np.arange(80) < 30
    table = table_of(values, range(80))
    reach = confint_proportions_2indep(9, 30, 6, 50, method="newcomb")
    found = gap(table, values, mine, Scale("proportion"))
    assert (found.low, found.high) == pytest.approx((100 * reach[0], 100 * reach[1]), rel=1e-6)


def test_a_gap_within_patients_is_surer_than_one_between_patients():
    rng = np.random.default_rng(1)
    patients = rng.random(30)
    values, mine = [*patients, *(patients + 0.01 * rng.random(30)) * 0.9], [True] * 30 + [False] * 30
    within, between = (gap_of(values, of, mine) for of in ([*range(30)] * 2, range(60)))
    assert within.value == between.value and within.high - within.low < 0.3 * (between.high - between.low)


def test_a_side_whose_mean_has_no_interval_in_the_table_has_no_gap():
    assert gap_of([0.0] * 3 + [0.25, 0.0] * 10, range(23), [True] * 3 + [False] * 20) is None
    assert gap_of([0.7, 0.7, 0.0, 1.0], [0, 0, 1, 2], [True, True, False, False]) is None
    assert gap_of([None, None, 0.0, 1.0], [0, 1, 2, 3], [True, True, False, False]) is None


@slow
def test_gaps_of_small_groups_are_not_found_where_there_are_none():
    """Groups of 13 of 133 patients, rare severe errors: a gap of 0 is found in at most 1 of 20 simulations."""
    _, _, false = simulated(400, 0.1, 1.0, 200)
    assert false <= 7


CARDS = [{"sex": "male", "age, years": 3.0}, {"sex": "female", "age, years": 44.0}, {"sex": "male"}, {"sex": "female"}]


def run_of(folder, harms, cards=CARDS, **notes):
    """A run of four patients with these harms (None: unrated), of a type of error ``x`` where there is harm."""
    write(folder, {"chest": ("a", harms)}, CFG | {"scorer": {"harm": {}}}, cards=cards, **notes)
    path = folder / "records.jsonl"
    path.write_text(path.read_text().replace('"score/x"', f'"{EXPECTED}"'))
    return Run.at(folder)


def sheets(run):
    return {sheet.title: sheet for sheet in harm([run]).parts}


def test_unrated_cases_are_never_harmless(tmp_path):
    found = sheets(run_of(tmp_path, [1.0, None, 0.0, 0.0]))
    row = found["Expected harm"].rows[0]
    assert row[1:3] == [4, 1]
    assert [cell.value for cell in row[3:6]] == pytest.approx([100 / 3, 25, 50])


def test_worst_cases_are_first_and_link_to_their_episode(tmp_path):
    found = sheets(run_of(tmp_path, [0.05, None, 1.0, 0.0]))["Worst cases"].rows
    assert [row[1] for row in found] == ["chest-2", "chest-0"]
    assert found[0][4].value == 1.0 and found[0][4].link.endswith("/chest-2/0")
    assert found[1][3] == "sex male, age band 0-17, task chest, dimension a"


def test_groups_are_of_sex_and_age_band_and_have_gaps(tmp_path):
    rows = sheets(run_of(tmp_path, [1.0, 0.0, 0.7, 0.05] * 6, CARDS * 6))["Harm by group"].rows
    assert [row[1:3] for row in rows] == [
        ["sex", "female"], ["sex", "male"], ["age band", "0-17"], ["age band", "18-44"], ["age band", "none"],
    ]  # fmt: skip
    gaps = [row[6] and row[6].value for row in rows]
    assert gaps[:2] == pytest.approx([2.5 - 85, 85 - 2.5])
    assert gaps[0] == -gaps[1]


def test_harm_of_few_patients_has_no_interval_and_no_gap():
    """Of four patients it does not show how rare the worst is; of none there is an interval, of five too."""
    mine = np.arange(40) < 20
    for harmed, shown in ((0, True), (1, False), (4, False), (5, True)):
        values = np.array([0.25 + 0.01 * n for n in range(harmed)] + [0.0] * (20 - harmed) + [0.25, 0.0] * 10)
        assert (gap_of(values, range(40), mine) is not None) is shown
        table = table_of(values[mine], range(20))
        alone, stored = expected_harm(table, values[mine]), metrics(table, {EXPECTED: "share"})[EXPECTED]
        assert (alone.low is not None) is shown and alone.without == ("" if shown else "too few harmed")
        assert alone == Value.of(stored, 100.0), "metrics.json has the same number"


def test_runs_without_harm_have_no_section(tmp_path, capsys):
    write(tmp_path, {"chest": ("a", [1.0])})
    assert harm([Run.at(tmp_path)]) is None
    assert main(["harm", str(tmp_path)]) == 2
    assert "harm: these runs have nothing for this section" in capsys.readouterr().err


def test_without_a_rated_error_right_answers_alone_have_no_mean(tmp_path):
    weights = {"no_harm": 0.0, "death": 0.5}
    run_of(tmp_path, [0.0, None, 0.0, 0.0])
    path = tmp_path / "records.jsonl"
    path.write_text(path.read_text().replace(f'"{EXPECTED}":null', f'"{RATED}":0.0,"{EXPECTED}":null'))
    run = Run.at(tmp_path, CFG | {"scorer": {"harm": {"weights": weights}}})
    row = sheets(run)["Expected harm"].rows[0]
    assert metrics(run.table, {})[EXPECTED].value is None
    assert row[3] is None and [cell.value for cell in row[4:6]] == pytest.approx([0, 12.5]), "bounds by the weights"


def test_severities_by_a_model_alone_are_in_no_metric(tmp_path, capsys):
    death = JUDGED.format("harm_severity", "severity", "death")
    run_of(tmp_path, [1.0, 0.0, 0.0, 0.0], models={"main": "m", "judge": "qwen"}, id="r1")
    path = tmp_path / "records.jsonl"
    path.write_text(path.read_text().replace(f'"{EXPECTED}"', f'"{death}":1.0,"{EXPECTED}"'))

    def note_and_table():
        note = sheets(Run.at(tmp_path))["Expected harm"].notes[0]
        assert main(["table", str(tmp_path), "--all"]) == 0
        table = capsys.readouterr().out
        return note, table, death in (tmp_path / "metrics.json").read_text()

    ratings, kappa = tmp_path / "ratings" / "harm_severity", {"severity": {"kappa": 0.5, "n": 4}}
    ratings.mkdir(parents=True)
    for graded, shown in ([], False), (["another"], False), (["r1"], True):
        found = {"graded": graded, "judge": {"ann": kappa}, "judge_weighted": {"ann": kappa}, "agreement": {}}
        (ratings / "ratings.json").write_text(json.dumps(found))
        note, table, stored = note_and_table()
        assert stored is shown
        if shown:
            assert "weighted kappa of the judge 0.5000 with ann" in note and "severity/death" in table
        else:
            assert note.startswith(f"{tmp_path.name}: refused: severities by the model 'qwen'")
            assert "left out of the metrics" in table and "severity/death" not in table
