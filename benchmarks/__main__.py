"""``python -m benchmarks [ROW ...] [--scale S] [--repeat N] [--write]``: measure rows, print one table."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence

from benchmarks import (
    coverage,
    coverage_claims,
    coverage_confidence,
    coverage_drift,
    coverage_forks,
    coverage_harm,
    fused,
    http_rows,
    local_rows,
    peers,
    report,
    sandbox,
)
from benchmarks.figures import Figure, Row, Settings, shown, write

ROWS: Mapping[str, Row] = {
    "throughput": http_rows.throughput,
    "real": http_rows.real,
    "connections": http_rows.connections,
    "panel": http_rows.panel,
    "litellm": http_rows.litellm,
    "peers": peers.row,
    "simulated": local_rows.simulated,
    "large": local_rows.large,
    "report": report.row,
    "startup": local_rows.startup,
    "first_call": local_rows.first_call,
    "journal": local_rows.journal,
    "sweep": local_rows.sweep,
    "fused": fused.row,
    "sandbox": sandbox.row,
    "coverage": coverage.row,
    "coverage_few": coverage.few,
    "coverage_confidence": coverage_confidence.row,
    "coverage_drift": coverage_drift.row,
    "coverage_forks": coverage_forks.row,
    "coverage_claims": coverage_claims.row,
    "coverage_harm": coverage_harm.row,
}


def _first_line(row: Row) -> str:
    return (row.__doc__ or "").split("\n", 1)[0]


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="What the runner costs, next to bare loops.",
        epilog="\n".join(f"{name:12} {_first_line(row)}" for name, row in ROWS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to measure; all when none is named")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full size, for a quick look")
    parser.add_argument("--repeat", type=int, default=3, help="how often, for medians (default 3)")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    given = parser.parse_args(argv)
    if unknown := [name for name in given.rows if name not in ROWS]:
        parser.error(f"there is no row {unknown[0]!r}; there are {', '.join(ROWS)}")
    if given.scale <= 0 or given.scale > 1 or given.repeat < 1:
        parser.error("--scale is above 0 and at most 1, --repeat at least 1")
    return given


def main(argv: Sequence[str] | None = None) -> int:
    """Measure. Exit code 1 when a target is missed."""
    given = _arguments(sys.argv[1:] if argv is None else argv)
    figures: list[Figure] = []
    for name in given.rows or ROWS:
        started = time.perf_counter()
        found = ROWS[name](Settings(given.scale, given.repeat))
        figures += found
        note = "" if found else ": not there yet"
        print(f"{name}: {time.perf_counter() - started:.0f} s{note}", file=sys.stderr, flush=True)
    print(shown(figures))
    if given.write:
        write(figures, [*ROWS])
    return int(any(figure.met is False for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
