"""Every benchmark row runs at a tiny scale and yields numbers; speed is not tested."""

import math
from pathlib import Path

import pytest

from benchmarks.__main__ import ROWS, main
from benchmarks.coverage import CASES, SIZES
from benchmarks.figures import Figure, Settings, number, shown, write
from benchmarks.processes import JobFailed, run_here, run_job
from tests.slow import slow
from tests.table import each_row

# Imports litellm twice; imports the peers; composes 16 jobs; opens every tier; opens a thousand connections; starts commands;
# runs many episodes; resamples many runs.
SLOW = (
    "coverage_few", "litellm", "peers", "sweep", "fused", "sandbox", "connections", "startup", "large", "report", "panel",
    "coverage", "coverage_confidence", "coverage_claims", "coverage_drift", "coverage_forks",
    "coverage_harm",
)  # fmt: skip
TINY = Settings(scale=0.001, repeat=1, run=run_here)  # in this process: the numbers are not measurements


@slow
@each_row("name", [name for name in ROWS if name not in SLOW])
def test_row_yields_numbers(name: str) -> None:
    figures = ROWS[name](TINY)
    assert {figure.row for figure in figures} == {name}
    assert all(math.isfinite(figure.value) and figure.value >= 0 for figure in figures if figure.unit != "MB")


@slow
@each_row("name", SLOW)
def test_slow_row_yields_numbers(name: str) -> None:
    figures = ROWS[name](Settings(scale=0.01, repeat=1))
    if name == "coverage":
        assert len(figures) == len(CASES) * len(SIZES) and all(figure.target == 2.0 for figure in figures)
    assert figures and all(math.isfinite(figure.value) for figure in figures if figure.value is not None)
    assert all(figure.value is not None or "make bench-peers" in figure.detail for figure in figures)


def test_job_runs_in_a_separate_process() -> None:
    measured = run_job("figures.machine")
    assert measured == run_here("figures.machine")


def test_target_is_judged_in_its_direction() -> None:
    assert Figure("a", "wall", 1.0, "x", 1.1).met is True
    assert Figure("a", "speed", 1.0, "/s", 1.1, at_least=True).met is False
    assert Figure("a", "told", 1.0, "").met is None


EMPTY = "before\n<!-- table: written by python -m benchmarks --write -->\n<!-- end of table -->\nafter\n"


def test_written_table_keeps_unmeasured_rows(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(EMPTY)
    write([Figure("a", "wall", 2.0, "x", 1.0), Figure("b", "size", 3.0, "MB")], ["a", "b"], path)
    write([Figure("a", "wall", 0.5, "x", 1.0)], ["a", "b"], path)
    text = path.read_text()
    assert "| a | wall | 0.5 x | <= 1 x | yes |" in text and "| b | size | 3 MB |" in text
    assert "| 2 x |" not in text and text.startswith("before\n") and text.endswith("after\n")
    assert text.count("| row |") == 1


def test_written_table_has_the_order_of_the_rows_and_folds_what_is_not_cost(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(EMPTY)
    order = ["a", "b", "coverage"]
    for name in ("coverage", "b", "gone", "a"):
        write([Figure(name, "first", 1.0, "x"), Figure(name, "second", 2.0, "x")], order, path)
    found = [line.split(" | ")[:2] for line in path.read_text().splitlines() if line.startswith("| ")]
    rows = [line for line in found if line[0] != "| row"]
    assert rows == [[f"| {name}", what] for name in ("a", "b", "gone", "coverage") for what in ("first", "second")]
    open_part, _, folded = path.read_text().partition("<details>")
    assert "| coverage |" in folded and "| coverage |" not in open_part and folded.count("</details>") == 1


def test_row_not_measured_in_full_keeps_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(EMPTY)
    write([Figure("a", "one", 1.0, "x"), Figure("a", "two", 2.0, "x")], ["a"], path)
    missing = Figure("a", "two", None, "x", 1.0, detail="not installed: make bench-peers")
    write([Figure("a", "one", 5.0, "x"), missing], ["a"], path)
    assert "| a | one | 1 x |" in path.read_text() and "| a | two | 2 x |" in path.read_text()
    assert missing.met is None and "| a | two |  | <= 1 x |  | not installed" in shown([missing])


def test_large_numbers_are_grouped_and_small_ones_cut() -> None:
    assert (number(1234567.0), number(0.12345)) == ("1,234,567", "0.123")
    assert "| row |" in shown([Figure("a", "wall", 2.0, "x")])


def test_unknown_row_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["thruput"])
    assert "no row 'thruput'" in capsys.readouterr().err


def test_failed_job_reports_the_reason() -> None:
    with pytest.raises(JobFailed, match="no median for empty data"):
        run_job("figures.middle", values=[])
