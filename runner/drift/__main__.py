"""``python -m runner.drift init RUN ...`` makes a canary set, ``check CANARY`` asks it again: has the model changed?

Exit codes: 0 no drift, 1 drift, 2 config, 3 budget reached, 4 too many errored samples, 130 interrupted. See
docs/guides/drift.md.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from components.core.errors import ConfigError
from components.core.learning import Made
from runner import tracking
from runner.drift.canary import FILE, MOST, Canary, begin, changes_of
from runner.drift.timeline import add_check, drifted, evidence, section_of
from runner.job.exit_codes import COMPLETE, ERRORS
from runner.results.render.formats import markdown, page
from runner.results.runs import Run, run_folders
from runner.results.terminal import show_section
from runner.storage import disk, manifest
from runner.study.log import note_look
from runner.terminal.command import Parser, exit_code_of

STABLE, DRIFT, UNFINISHED = 0, 1, 4
_REPORT = "timeline"  # the folder with tables and page, which goes to MLflow


def main(argv: Sequence[str] | None = None) -> int:
    """Make or check a canary set. Returns the exit code."""
    codes = list[int]()
    return exit_code_of(lambda: _run(_arguments(argv), codes)) or next(iter(codes), STABLE)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(prog="python -m runner.drift", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    init = commands.add_parser("init", help="choose samples of recorded runs and ask them for a baseline")
    init.add_argument("runs", nargs="+", metavar="RUN", help="a run or sweep folder: runs of one method on one dataset")
    init.add_argument("--out", required=True, metavar="CANARY", help="the new folder of the canary set")
    init.add_argument("--samples", type=int, default=60, metavar="N", help=f"30 to {MOST}, by default 60")
    init.add_argument("--repeats", type=int, default=5, metavar="K", help="of the baseline, by default 5")
    init.add_argument("--alpha", type=float, default=0.01, help="chance of a false alarm, over all checks; 0.01")
    check = commands.add_parser("check", help="ask again, and test; exit code 1 for drift")
    check.add_argument("canary", metavar="CANARY", help="the folder of a canary set")
    check.add_argument("changes", nargs="*", metavar="KEY=VALUE", help="settings of the model that are others now")
    return parser.parse_args(argv)


def _run(options: argparse.Namespace, codes: list[int]) -> None:
    """Do what is asked; the exit code is known before anything is printed of it. Raises ConfigError."""
    if options.command == "check":
        folder = Path(options.canary)
        Canary.read(folder)
        with _alone(folder):
            _check(Canary.read(folder), dict(changes_of(options.changes)), codes)
        return
    out = Path(options.out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        hint = f"; runner.drift check {out} continues it" if (out / FILE).exists() else ""
        raise ConfigError(f"--out {out} exists and is not empty: name a new folder{hint}")
    folders = [folder for name in options.runs for folder in run_folders(Path(name))]
    note_look(folders)
    canary = begin([Run.read(one) for one in folders], out, options.samples, options.repeats, options.alpha)
    canary.write()
    print(f"{len(canary.samples)} samples of {canary.source}, {canary.repeats} repeats for the baseline")  # noqa: T201
    with _alone(out):
        if _ask_baseline(canary, codes):
            _show(canary)
            print(f"to check:   python -m runner.drift check {out}")  # noqa: T201


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Around askings: one command at a time. Raises ConfigError."""
    if (lock := disk.lock_folder(folder)) is None:
        raise ConfigError(f"{folder} is being asked by another process; wait for it")
    try:
        yield
    finally:
        os.close(lock)


def _ask_baseline(canary: Canary, codes: list[int]) -> bool:
    """Ask what the baseline still lacks. Returns whether it is whole."""
    while len(canary.askings) < canary.repeats:
        code, asking = canary.ask({})
        if _broke_off(canary, code, codes):
            return False
        canary.askings.append(asking)
        canary.write_askings()
    return True


def _broke_off(canary: Canary, code: int, codes: list[int]) -> bool:
    """Whether an asking is not whole: then nothing is concluded of it."""
    if code != COMPLETE:
        codes.append(UNFINISHED if code == ERRORS else code)
        print(f"not finished, nothing is concluded; to continue: python -m runner.drift check {canary.folder}")  # noqa: T201
    return code != COMPLETE


def _check(canary: Canary, changes: dict[str, object], codes: list[int]) -> None:
    """Ask once more, test, and report."""
    if not _ask_baseline(canary, codes):
        return
    code, asking = canary.ask(changes)
    if _broke_off(canary, code, codes):
        return
    add_check(canary, asking)
    canary.write_askings()
    codes.append(DRIFT if drifted(canary) else STABLE)
    _show(canary)


def _show(canary: Canary) -> None:
    """Print the time line, write it as Markdown and as a page, and have it sent."""
    section, reasons, values = section_of(canary), drifted(canary), evidence(canary)
    verdict = f"drift: {'; '.join(reasons)}" if reasons else "no drift so far"
    first = manifest.read(canary.folder / canary.askings[0]["folder"])
    warnings = ["simulated model: these numbers say nothing about any real model"]
    warnings = [verdict, *(warnings if first["model_kind"] == "simulated" else [])]
    folder, about = canary.folder / _REPORT, f"{len(canary.checks)} checks of {canary.folder}, made of {canary.source}."
    folder.mkdir(exist_ok=True)
    disk.replace(folder / "drift.md", markdown("Drift", about, warnings, [section]))
    disk.replace(folder / "drift.html", page("Drift", about, warnings, [section]))
    facts = {"model_kind": first["model_kind"], "dataset": first["dataset"], "command": manifest.command_line()}
    manifest.write(folder, {"begun": first["start"], "status": verdict, **facts})
    show_section(section)
    print(f"verdict:    {verdict}\nwritten to: {folder / 'drift.html'}", flush=True)  # noqa: T201
    steps = [(n, value) for n, value in enumerate(values, 1)]
    figures = {"drift/evidence": steps, "drift/p": [(n, one["p"]) for n, one in enumerate(canary.checks, 1)]}
    tracking.track_made(Made(folder, [verdict], not canary.askings, figures), canary.cfg, {"stage": "drift"})
    tracking.end()


if __name__ == "__main__":
    sys.exit(main())
