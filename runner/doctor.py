"""``python -m runner.doctor [--online]``: what this machine can do, a line each with what to do about it.

Exit code 0 even where something is missing; 1 where the default run does not work. Keys are named, never shown.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from runner.checkup import checks, machine
from runner.checkup.checks import BAD, OK, Line
from runner.terminal.command import Parser, exit_code_of

_HOME = Path(__file__).resolve().parent.parent
_TIMEOUT_SECONDS = 60.0


def main(argv: Sequence[str] | None = None) -> int:
    """Check everything and print it. Returns the exit code."""
    codes: list[int] = []
    return exit_code_of(lambda: codes.append(_examine(argv))) or sum(codes)


def _examine(argv: Sequence[str] | None) -> int:
    parser = Parser(prog="python -m runner.doctor", description="What this machine can do.")
    parser.add_argument("--online", action="store_true", help="also try endpoints that are not on this machine")
    online = parser.parse_args(argv).online
    tables: list[tuple[str, Callable[[], list[Line]]]] = [
        ("python", machine.python),
        ("machine", machine.machine),
        ("models", lambda: [*checks.keys(), *checks.endpoints(online)]),
        ("data", checks.data),
        ("sandbox", machine.sandbox),
        ("tracking", machine.store),
        ("journal", machine.journal),
        ("engines and extras", machine.extras),
    ]
    command = [sys.executable, "-m", "runner", "limit=1", "tracking=off", "run.journal=null"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(_HOME), os.environ.get("PYTHONPATH")]))}
    sections = []
    with (
        tempfile.TemporaryDirectory() as folder,  # meanwhile one sample of the defaults runs there, without the journal
        subprocess.Popen(
            command, cwd=folder, env=env, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process,
    ):
        try:
            for title, check in tables:
                try:
                    sections.append((title, check()))
                except ImportError as error:
                    sections.append((title, [Line(BAD, title, str(error), "make run installs what is needed")]))
            result = _result(process)
        finally:
            process.kill()
    sections.append(("default run", [result]))
    width = max(len(line.name) for _, lines in sections for line in lines)
    page = []
    for title, lines in sections:
        page.append(title)
        for line in lines:
            hint = f"  ->  {line.hint}" if line.hint else ""
            page.append(f"  {line.mark:4} {line.name:{width}}  {line.found}{hint}")
    print(*page, sep="\n")  # noqa: T201
    return 1 if result.mark == BAD else 0


def _result(process: subprocess.Popen[str]) -> Line:
    """How the default run ended, and whether its folder could have been made here."""
    try:
        _, errors = process.communicate(timeout=_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        seconds = f"not finished after {_TIMEOUT_SECONDS:.0f} s"
        return Line(BAD, "one sample", seconds, "is the machine busy, or the disk slow?")
    if process.returncode:
        last = (errors.strip().splitlines() or ["it printed nothing"])[-1]
        found = f"exit code {process.returncode}: {last}"
        return Line(BAD, "one sample", found, "python -m runner limit=1 shows all its output")
    folder = Path("outputs") if Path("outputs").exists() else Path(".")
    if not os.access(folder, os.W_OK):
        return Line(BAD, "one sample", f"{folder.resolve()} is read-only", "runs are written there: use another folder")
    return Line(OK, "one sample", "it ran", "python -m runner runs all")


if __name__ == "__main__":
    sys.exit(main())
