from itertools import combinations, product
from statistics import fmean

import numpy as np
import pytest

from components.core.types import Score, Trajectory
from runner.report import main
from runner.results.runs import Run
from runner.results.sections.repeated import repeated, share_of_choices
from runner.storage.records import RecordWriter, record_of
from tests.runner.results.folders import TOOLS, sample, step, write

RUNS = {0: [1, 1, 1], 1: [1, 0, 1], 2: [0, 0, 0], 3: [1, None, 0]}  # sample -> by epoch


def folder(path, **notes):
    """A run of four samples in three epochs; one episode has no score."""
    write(path, {}, kinds={"score/x": "proportion"}, headline="score/x", **{"epochs": 3, **notes})
    writer = RecordWriter(path)
    for n, values in RUNS.items():
        for epoch, value in enumerate(values):
            trajectory = Trajectory([step(answer="A")], TOOLS, stop="answered", answer="A")
            record = record_of(sample(n, "t", "d"), epoch, trajectory, [Score("score/x", value)], 0.1, writer.packer)
            writer.append(record)
    writer.close()
    return path


def test_the_share_is_that_of_all_choices():
    for n in range(1, 6):
        for runs in product((0, 1), repeat=n):
            for k in range(1, n + 1):
                chosen = list(combinations(runs, k))
                assert share_of_choices(sum(runs), n, k, True) == pytest.approx(fmean(map(all, chosen)))
                assert share_of_choices(sum(runs), n, k, False) == pytest.approx(fmean(map(any, chosen)))


def test_shares_are_means_over_samples_with_enough_runs(tmp_path, capsys):
    main(["table", str(folder(tmp_path / "run"))])  # writes the metrics
    (sheet,) = repeated([Run.read(tmp_path / "run")]).sheets
    found = {str(row[1]): [one.value for one in row[2:]] for row in sheet.rows}
    assert found["pass^k"] == pytest.approx([(1 + 2 / 3 + 0 + 1 / 2) / 4, (1 + 1 / 3 + 0 + 0) / 4, (1 + 0 + 0) / 3])
    assert found["pass@k"] == pytest.approx([(1 + 2 / 3 + 0 + 1 / 2) / 4, (1 + 1 + 0 + 1) / 4, (1 + 1 + 0) / 3])
    first = sheet.rows[0][2]
    assert first.low < first.value < first.high and first.n == 4
    assert main(["repeated", str(tmp_path / "run")]) == 0 and "pass^k" in capsys.readouterr().out


def test_a_run_of_one_epoch_has_no_such_section(tmp_path):
    main(["table", str(folder(tmp_path / "run", epochs=1))])
    assert repeated([Run.read(tmp_path / "run")]) is None


def test_the_estimate_is_unbiased():
    """Of agents that succeed with chance p in five runs, by simulation: p to the power of k."""
    random, p = np.random.default_rng(0), np.array([0.2, 0.5, 0.9])
    successes = random.binomial(5, np.tile(p, 20_000))
    for k in (1, 2, 4):
        found = fmean(share_of_choices(int(c), 5, k, True) for c in successes)
        assert found == pytest.approx(float((p**k).mean()), abs=0.006)
