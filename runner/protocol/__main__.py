"""``python -m runner.protocol new|freeze|check|report STUDY``: a study that is planned, then run, then answered.

Exit codes: 0, 1 where ``check`` found differences, 2 config. See docs/guides/protocol.md.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import ConfigError
from runner.config.catalogue import CONF
from runner.protocol import stamp
from runner.protocol.analysis import Analysis
from runner.protocol.freeze import freeze, plan_of, weak
from runner.protocol.report import sections, warnings, write
from runner.results.runs import run_folders
from runner.results.sheets import Cell, Sheet, columns
from runner.results.terminal import show_section, show_sheet, show_text
from runner.storage.resume import differences_of
from runner.study import log
from runner.study.frozen import Frozen, place_of
from runner.study.plan import read
from runner.terminal.command import Parser, exit_code_of

_TEMPLATE = CONF / "studies" / "second_look.yaml"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit code."""
    return exit_code_of(lambda: _run(_arguments(argv)))


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(prog="python -m runner.protocol", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    new = commands.add_parser("new", help="write a study to change")
    freeze = commands.add_parser("freeze", help="check it, compute its power, and write what is planned, with the time")
    freeze.add_argument("--amend", metavar="REASON", help="freeze a changed study again; the log keeps that and why")
    check = commands.add_parser("check", help="before it is frozen: can it be run; after: is all as it was frozen")
    report = commands.add_parser("report", help="answer what was asked")
    report.add_argument("--out", metavar="FOLDER", help="by default NAME.report next to the study")
    for command in (new, freeze, check, report):
        command.add_argument("study", metavar="STUDY", type=Path, help="the study's file, such as study.yaml")
    report.add_argument("folders", nargs="*", metavar="FOLDER", help="runs that are not where they were run")
    return parser.parse_args(argv)


def _run(options: argparse.Namespace) -> int:
    """Do what is asked. Returns the exit code. Raises ConfigError."""
    path: Path = options.study
    if path.suffix not in (".yaml", ".yml"):
        raise ConfigError(f"{path}: a study is a YAML file, such as study.yaml")
    if options.command == "new":
        return _new(path)
    if options.command == "freeze":
        frozen = freeze(path, options.amend)
        _show_plan(frozen)
        print(f"frozen:     {place_of(path)}, SHA-256 {frozen.digest}")  # noqa: T201
        return 0
    if options.command == "check":
        return _check(path)
    return _report(path, options)


def _new(path: Path) -> int:
    if path.exists():
        raise ConfigError(f"{path} is there already: name another, or remove it")
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(_TEMPLATE, path)
    print(f"written to {path}; change it, then: python -m runner.protocol check {path}")  # noqa: T201
    return 0


def _show_plan(plan: Frozen) -> None:
    """Print the planned runs and their power."""
    rows: list[list[Cell]] = [[one["hypothesis"], one["samples"], one["patients"], one["alpha"], one["power"],
                               one["needed"]] for one in plan.power]  # fmt: skip
    heads = columns("hypothesis", "samples", "patients", "alpha", "power", "samples needed")
    show_sheet(Sheet(f"{plan.study.title}: power", heads, rows))
    for one in plan.runs:
        print(f"python -m runner protocol={plan.path} {' '.join(one['words'])}")  # noqa: T201


def _check(path: Path) -> int:
    """Compare everything with what was frozen. Returns 1 where something differs."""
    if not place_of(path).exists():
        plan = plan_of(path)
        _show_plan(plan)
        lines = weak(plan)
        print(*lines, f"can be run as it says; to freeze it: python -m runner.protocol freeze {path}", sep="\n")  # noqa: T201
        return int(bool(lines))
    frozen, found = Frozen.read(path), list[str]()
    events = log.events(path)
    if [event["digest"] for event in events if event["event"] == "frozen"][-1:] != [frozen.digest]:
        found.append(f"{place_of(path)} is not what the log says was frozen")
    if read(path)[1] != frozen.file:
        found.append(f"{path} was changed after it was frozen")
    now = plan_of(path)
    found += frozen.code_changes()
    for before, after in zip(frozen.runs, now.runs, strict=False):
        where = f"{before['arm']}, seed {before['seed']}"
        found += [f"{where}: {line}" for line in differences_of(before["planned"], after["planned"])]
    found += _check_stamp(path, frozen)
    print(*found, sep="\n") if found else print(f"all is as it was frozen at {frozen.time}")  # noqa: T201
    return int(bool(found))


def _check_stamp(path: Path, frozen: Frozen) -> list[str]:
    """What is wrong with the time stamp, where there is one."""
    place = stamp.place_of(path)
    if not place.exists():
        return [f"{place} is missing"] if frozen.study.timestamp else []
    try:
        token = stamp.read(place.read_bytes(), frozen.digest)
    except ValueError as error:
        return [f"{place}: {error}"]
    verify = f"openssl ts -verify -digest {frozen.digest} -in {place} -CAfile AUTHORITY.pem"
    print(f"stamped at {token.time}; its signature: {verify}")  # noqa: T201
    return []


def _report(path: Path, options: argparse.Namespace) -> int:
    folders = [folder for name in options.folders for folder in run_folders(Path(name))]
    log.note_analysis(path, folders)
    analysis = Analysis.of(path, folders)
    asked = sections(analysis)
    for one in asked:
        show_section(one)
    for line in warnings(analysis):
        show_text(line)
    home = Path(options.out) if options.out else path.with_suffix(".report")
    print(f"report:     {write(analysis, home, asked)}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
