"""The table and the plot of calls per second; how fast anything is, is no matter of a test."""

from pathlib import Path

from benchmarks.rates import CONNECTIONS, SHARDS, Point, measure, write
from tests.slow import slow

POINTS = {(n, shards): Point(min(n / 0.1, 1_250.0 * shards), 0.5) for n in CONNECTIONS for shards in SHARDS}


@slow
def test_page_gets_table_and_plot(tmp_path: Path) -> None:
    page, plot = tmp_path / "page.md", tmp_path / "rates.svg"
    page.write_text(
        "before\n<!-- table: written by python -m benchmarks.rates --write -->\n<!-- end of table -->\nafter\n"
    )
    write(POINTS, 0.2, page, plot)
    write(POINTS, 0.2, page, plot)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and text.count("| connections |") == 1
    assert "| 100 | 1,000 /s | 1,000 /s | 1,000 /s | 0.50 and 0.50 ms | 2,000 /s | 3.8 or 3.8 hours |" in text
    assert "| 1,000 | 10,000 /s | 1,250 /s | 2,500 /s | 0.50 and 0.50 ms | 2,000 /s | 3.0 or 1.5 hours |" in text
    assert "load of other work before: 0.2\n" in text
    drawn = plot.read_text()
    write(POINTS, 0.2, page, plot)
    assert plot.read_text() == drawn and "1,000 connections" in drawn


@slow
def test_a_point_is_measured_in_every_shard() -> None:
    point = measure(4, 2, seconds=0.2)
    assert 0 < point.rate < 80 and point.cpu > 0
