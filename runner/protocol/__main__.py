"""``python -m runner.protocol new|freeze|check|report STUDY``: a study that is planned, then run, then answered.

Exit codes: 0, 1 where ``check`` found differences, 2 config. See docs/guides/protocol.md.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import ConfigError
from runner.config.catalogue import CONF
from runner.protocol import stamp
from runner.protocol.analysis import Analysis
from runner.protocol.freeze import freeze, plan_of, weak
from runner.protocol.report import power_sheet, sections, warnings, write
from runner.results.folders import run_folders
from runner.results.terminal import show_section, show_sheet, show_text
from runner.storage.manifest import shell_word
from runner.storage.resume import differences_of, setting
from runner.study import log
from runner.study.frozen import Frozen, place_of
from runner.study.looks import note_analysis
from runner.terminal.command import Parser, exit_code_of, print_lines

_TEMPLATE = CONF / "studies" / "second_look.yaml"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Returns the exit code."""

    def run() -> int | None:
        options = _arguments(argv)
        code: int | None = options.run(options)
        return code

    return exit_code_of(run)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(prog="python -m runner.protocol", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    new = commands.add_parser("new", help="write a study to change")
    freeze = commands.add_parser("freeze", help="check it, compute its power, and write what is planned, with the time")
    freeze.add_argument("--amend", metavar="REASON", help="freeze a changed study again; the log keeps the reason")
    check = commands.add_parser("check", help="before freezing: can the study be run; after: is everything unchanged")
    report = commands.add_parser("report", help="test the hypotheses and write the report")
    report.add_argument("--out", metavar="FOLDER", type=Path, help="by default NAME.report next to the study")
    for command, run in ((new, _new), (freeze, _freeze), (check, _check), (report, _report)):
        command.add_argument("study", metavar="STUDY", type=Path, help="the study's file, such as study.yaml")
        command.set_defaults(run=run)
    report.add_argument("folders", nargs="*", metavar="FOLDER", help="folders of runs that were moved")
    options = parser.parse_args(argv)
    if options.study.suffix not in (".yaml", ".yml"):
        raise ConfigError(f"{options.study}: a study is a YAML file, such as study.yaml")
    return options


def _new(options: argparse.Namespace) -> None:
    path: Path = options.study
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x") as file:
            file.write(_TEMPLATE.read_text(encoding="utf-8"))
    except FileExistsError:
        raise ConfigError(f"{path} exists already: name another, or remove it") from None
    print_lines(f"written to {path}; change it, then: python -m runner.protocol check {path}")


def _freeze(options: argparse.Namespace) -> None:
    frozen = freeze(options.study, options.amend)
    _show_plan(frozen)
    print_lines(f"frozen:     {place_of(options.study)}, SHA-256 {frozen.digest}")


def _show_plan(plan: Frozen) -> None:
    """Print the planned runs and their power."""
    show_sheet(power_sheet(plan))
    for one in plan.runs:
        print_lines(f"python -m runner {setting('protocol', plan.path)} {' '.join(map(shell_word, one['words']))}")


def _check(options: argparse.Namespace) -> int:
    """Compare everything with what was frozen. Returns 1 where something differs."""
    path: Path = options.study
    if not log.events(path, "frozen"):
        plan = plan_of(path)
        _show_plan(plan)
        lines = weak(plan)
        print_lines(*lines or [f"can be run as planned; to freeze it: python -m runner.protocol freeze {path}"])
        return int(bool(lines))
    frozen = Frozen.read(path)
    now = {(one["arm"], one["seed"]): one["planned"] for one in plan_of(path, frozen.content).runs}
    found = frozen.changes()
    found += [f"{one['arm']}, seed {one['seed']}: {line}" for one in frozen.runs
              for line in differences_of(one["planned"], now[one["arm"], one["seed"]])]  # fmt: skip
    found += _check_stamp(frozen)
    print_lines(*found or [f"everything is unchanged since it was frozen at {frozen.time}"])
    return int(bool(found))


def _check_stamp(frozen: Frozen) -> list[str]:
    """What is wrong with the time stamp, where there is one."""
    place = stamp.place_of(frozen.path)
    if not place.exists():
        return [f"{place} is missing"] if frozen.study.timestamp else []
    try:
        time = stamp.read(place.read_bytes(), frozen.digest)
    except ValueError as error:
        return [f"{place}: {error}"]
    verify = f"openssl ts -verify -digest {frozen.digest} -in {shlex.quote(str(place))} -CAfile AUTHORITY.pem"
    print_lines(f"stamped at {time}; its signature: {verify}")
    return []


def _report(options: argparse.Namespace) -> None:
    folders = [folder for name in options.folders for folder in run_folders(Path(name))]
    analysis = Analysis.of(options.study, folders)
    note_analysis(options.study, folders)
    asked = sections(analysis)
    for one in asked:
        show_section(one)
    for line in warnings(analysis):
        show_text(line)
    print_lines(f"report:     {write(analysis, options.out or options.study.with_suffix('.report'), asked)}")


if __name__ == "__main__":
    sys.exit(main())
