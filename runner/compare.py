"""``python -m runner.compare RUN RUN ...``: differences of methods on the same samples, with intervals and tests.

A RUN is a run folder, a sweep's folder, or ``mlflow:NAME``, the runs of an experiment in MLflow. See
docs/guides/comparing.md.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from components.core.errors import ConfigError
from runner.results.folders import run_folders
from runner.results.grid import grid_of, present_among
from runner.results.processes import map_folders
from runner.results.render.formats import markdown
from runner.results.rows import is_named
from runner.results.runs import Run, warnings_of
from runner.results.sections.comparisons import FILE, READ, all_effects, comparison_section, names_in
from runner.results.terminal import show_section, show_text
from runner.results.versus import compare_rows
from runner.storage.records import FILE as RECORDS
from runner.study.looks import note_look
from runner.terminal.command import Parser, exit_code_of

_MLFLOW = "mlflow:"


def main(argv: Sequence[str] | None = None) -> int:
    """Compare runs. Exit code 2 for what is not a run, or cannot be paired."""
    with TemporaryDirectory(prefix="wardround-") as scratch:
        return exit_code_of(lambda: _compare(_arguments(argv), Path(scratch)))


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(prog="python -m runner.compare", description=__doc__)
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


def _compare(options: argparse.Namespace, scratch: Path) -> None:
    """Read, compare, write and print. Raises ConfigError."""
    out = None if options.out is None else _free(options.out)
    folders = _folders(options, scratch)
    note_look(folders)
    runs, notes = _once(list(map_folders(Run.read, folders)))
    grid = grid_of(runs)
    if (baselines := names_in(options.baselines)) is None:
        baselines = [] if options.all_pairs else present_among(grid, runs[0].compare.get("baselines") or ())
        baselines = [] if all(is_named(row, baselines) for row in grid.rows) else baselines
    found = compare_rows(grid, options.metric, baselines, every=options.all_pairs)
    effects = all_effects(runs, options.metric)
    section, warnings = comparison_section(found, effects), [*notes, *warnings_of(runs)]
    if out is not None:
        numbers = {
            "runs": [str(run.folder) for run in runs],
            "baselines": baselines,
            "comparisons": [one.as_dict() for one in found.comparisons],
            "effects": [one.as_dict() for one in effects],
            "notes": [*notes, *found.notes],
        }
        about = f"{len(runs)} runs, {len(found.comparisons)} comparisons."
        text = markdown(section.title, about=about, warnings=warnings, sections=[section])
        try:
            out.mkdir(parents=True, exist_ok=True)
            (out / FILE).write_text(json.dumps(numbers, indent=1), encoding="utf-8")
            (out / READ).write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"--out {out} cannot be written to: {error.strerror}") from None
    show_section(section)
    for line in warnings:
        show_text(line)
    if out is not None:
        print(f"written to {out / READ} and {out / FILE}")  # noqa: T201


def _folders(options: argparse.Namespace, scratch: Path) -> list[Path]:
    """The run folders, each once. Raises ConfigError."""
    folders: list[Path] = []
    for name in options.runs:
        named = [Path(name)]
        if name.startswith(_MLFLOW):
            from runner.tracking.folders import folders_of
            from runner.tracking.send import send_unsent
            from runner.tracking.store import DATABASE, place_of

            uri = options.uri or DATABASE
            send_unsent(place_of(uri))
            named = list(folders_of(name.removeprefix(_MLFLOW), scratch, uri))
        folders += [folder for one in named for folder in run_folders(one)]
    return list({folder.resolve(): folder for folder in folders}.values())


def _once(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """The runs without copies of one that is there already, and a note for each copy."""
    found: dict[str, Run] = {}
    notes = []
    for run in runs:
        if (first := found.setdefault(str(run.manifest.get("id") or run.folder), run)) is not run:
            notes.append(f"note: {run.folder} is the same run as {first.folder}, and left out")
    if len(found) == 1 and notes:
        raise ConfigError(f"nothing to compare: {notes[0].removeprefix('note: ').removesuffix(', and left out')}")
    return list(found.values()), notes


def _free(name: str) -> Path:
    """A folder for files of these names. Raises ConfigError for one that has such files, and for what cannot be one."""
    folder = Path(name)
    try:
        if not name.strip() or (folder.exists() and not folder.is_dir()):
            raise ConfigError(f"--out {name!r} is not a folder; name an existing or a new one")
        taken = (folder / RECORDS).exists() or any(folder.glob(f"*/{RECORDS}"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"--out {name[:200]!r} cannot be a folder: {error}") from None
    if taken:
        raise ConfigError(f"--out {folder} is the folder of a run or a sweep, which has its {FILE}; name another")
    return folder


if __name__ == "__main__":
    sys.exit(main())
