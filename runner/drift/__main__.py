"""``python -m runner.drift init RUN ...`` makes a canary set, ``check CANARY`` asks it again: has the model changed?

Exit codes: 0 no drift, 1 drift, 2 config, 3 budget reached, 4 too many errored samples or too few answers, 70 a bug,
130 interrupted. See docs/guides/drift.md.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from components.core.errors import ConfigError
from components.core.learning import Made
from runner import tracking
from runner.drift.canary import FILE, MOST, Canary, begin, changes_of
from runner.drift.timeline import add_check, drift_reasons, evidence, section_of
from runner.job.exit_codes import COMPLETE, ERRORS
from runner.results.folders import run_folders
from runner.results.render.formats import markdown, page
from runner.results.runs import Run
from runner.results.terminal import show_section
from runner.storage import disk, manifest
from runner.storage.integrity import refuse_changed
from runner.study.looks import note_look
from runner.terminal.command import Parser, exit_code_of, print_lines

STABLE, DRIFT, UNFINISHED, BUG = 0, 1, 4, 70
_REPORT = "timeline"  # the folder with tables and page, which goes to MLflow


def main(argv: Sequence[str] | None = None) -> int:
    """Make or check a canary set. Returns the exit code."""
    return exit_code_of(lambda: _run(_arguments(argv)))


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
    check.add_argument("changes", nargs="*", metavar="KEY=VALUE", help="settings of the model to change for this check")
    return parser.parse_args(argv)


def _run(options: argparse.Namespace) -> int:
    """Do what is asked. Returns the exit code, whoever reads what is printed. Raises ConfigError."""
    if options.command == "check":
        folder = Path(options.canary)
        Canary.read(folder)
        list(changes_of(options.changes))
        with disk.exclusive(folder):
            return _check(Canary.read(folder), options.changes)
    out = Path(options.out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        hint = f"; runner.drift check {out} continues it" if (out / FILE).exists() else ""
        raise ConfigError(f"--out {out} exists and is not empty: name a new folder{hint}")
    folders = [folder for name in options.runs for folder in run_folders(Path(name))]
    for folder in folders:
        refuse_changed(folder)
    note_look(folders)
    canary = begin([Run.read(one) for one in folders], out, options.samples, options.repeats, options.alpha)
    canary.experiment(0, {})  # refused before anything is written
    canary.write()
    print_lines(f"{len(canary.samples)} samples of {canary.source}, {canary.repeats} repeats for the baseline")
    with disk.exclusive(out):
        if code := _ask_baseline(canary):
            return code
        _show(canary)
        print_lines(f"to check:   python -m runner.drift check {out}")
    return STABLE


def _ask_baseline(canary: Canary) -> int:
    """Ask what the baseline still lacks. Returns the exit code, 0 once it is whole."""
    while len(canary.askings) < canary.repeats:
        code, asking = canary.ask({})
        if code != COMPLETE:
            return _break_off(canary, code, ())
        canary.askings.append(asking)
        canary.write_askings()
    return STABLE


def _break_off(canary: Canary, code: int, words: Sequence[str]) -> int:
    """Say that nothing is concluded of an asking with these changes that is not whole. Returns the exit code."""
    again = shlex.join(["python", "-m", "runner.drift", "check", str(canary.folder), *words])
    text = f"not finished, nothing is concluded; to continue: {again}"
    return exit_code_of(lambda: print_lines(text)) or (UNFINISHED if code == ERRORS else code)


def _check(canary: Canary, words: Sequence[str]) -> int:
    """Ask once more, test, and report. Returns the exit code."""
    if code := _ask_baseline(canary):
        return code
    code, asking = canary.ask(dict(changes_of(words)))
    if code != COMPLETE:
        return _break_off(canary, code, words)
    add_check(canary, asking)
    canary.write_askings()
    return exit_code_of(lambda: _show(canary)) or (DRIFT if drift_reasons(canary) else STABLE)


def _show(canary: Canary) -> None:
    """Print the time line, write it as Markdown and as a page, and have it sent."""
    section, reasons, values = section_of(canary), drift_reasons(canary), evidence(canary)
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


def end_of_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an unexpected error; Python's own exit code would be that of drift."""
    sys.__excepthook__(kind, error, trace)
    raise SystemExit(BUG)


if __name__ == "__main__":
    sys.excepthook = end_of_bug
    sys.exit(main())
