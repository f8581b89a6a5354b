"""``python -m runner.compare RUN RUN ...``: what methods gain over each other on the same samples, and how surely.

A RUN is a run folder, a sweep's folder, or ``mlflow:NAME``, the runs of an experiment in MLflow. See docs/comparing.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill

from components.errors import ConfigError
from runner.records import FILE as RECORDS
from runner.results.compare import FILE, READ, warnings_of
from runner.results.folders import run_folders
from runner.results.grid import grid_of
from runner.results.page.written import markdown
from runner.results.paired import played
from runner.results.rows import Run
from runner.terminal import told

_MLFLOW, _WIDE = "mlflow:", 110


def main(argv: Sequence[str] | None = None) -> int:
    """Compare runs. Exit code 2 for what is no run, or cannot be paired."""
    with TemporaryDirectory(prefix="wardround-") as scratch:
        return told(lambda: _tell(_arguments(argv), Path(scratch)))


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m runner.compare", description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run or sweep folder, or mlflow:EXPERIMENT")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME",
        help="a score, or calls/per_sample, cost/usd ...; several times for several; by default the headline",
    )  # fmt: skip
    against = parser.add_mutually_exclusive_group()
    against.add_argument("--baselines", metavar="A,B", help="compare with these only: agents, labels or folders")
    against.add_argument("--all-pairs", action="store_true", help="every pair, whatever compare.baselines says")
    parser.add_argument("--out", metavar="FOLDER", help=f"write {READ} and {FILE} there")
    parser.add_argument("--uri", help="where MLflow is, by default the local database")
    return parser.parse_args(argv)


def _tell(given: argparse.Namespace, scratch: Path) -> None:
    """Read, compare, print and write. Raises ConfigError."""
    out = None if given.out is None else _free(Path(given.out))
    runs = [Run.at(folder) for folder in _folders(given, scratch)]
    from runner.results.statistics.sheets import EXPLAINED, effects_of, section_of, show_section
    from runner.results.statistics.versus import compared

    grid = grid_of(runs)
    baselines = [name.strip() for name in (given.baselines or "").split(",") if name.strip()]
    if not baselines and not given.all_pairs:
        baselines = played(grid, (runs[0].cfg.get("compare") or {}).get("baselines") or ())
    found = compared(grid, given.metric, baselines, every=given.all_pairs)
    effects = effects_of(runs, given.metric)
    section, warnings = section_of(found, effects), warnings_of(runs)
    show_section(section)
    print(*(fill(line, _WIDE) for line in (*EXPLAINED, *warnings)), sep="\n")  # noqa: T201
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        told = {
            "runs": [str(run.folder) for run in runs],
            "baselines": baselines,
            "comparisons": [one.as_dict() for one in found.found],
            "effects": [one.as_dict() for one in effects],
            "notes": list(found.notes),
        }
        (out / FILE).write_text(json.dumps(told, indent=1), encoding="utf-8")
        about = f"{len(runs)} runs, {len(found.found)} comparisons."
        (out / READ).write_text(
            markdown(section.title, about=about, warnings=warnings, sections=[section]), encoding="utf-8"
        )
        print(f"written to {out / READ} and {out / FILE}")  # noqa: T201


def _folders(given: argparse.Namespace, scratch: Path) -> list[Path]:
    """The run folders that are meant, each once. Raises ConfigError."""
    folders: list[Path] = []
    for name in given.runs:
        if not name.startswith(_MLFLOW):
            folders += run_folders(Path(name))
            continue
        from runner.tracking.found import DATABASE, folders_of

        folders += folders_of(name.removeprefix(_MLFLOW), scratch, given.uri or DATABASE)
    return list({folder.resolve(): folder for folder in folders}.values())


def _free(folder: Path) -> Path:
    """A folder for files of these names. Raises ConfigError for a run's or a sweep's own, which has such files."""
    if (folder / RECORDS).exists() or any(folder.glob(f"*/{RECORDS}")):
        raise ConfigError(
            f"--out {folder} is the folder of a run or a sweep, which has {FILE} of its own; name another"
        )
    return folder


if __name__ == "__main__":
    sys.exit(main())
