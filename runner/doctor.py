"""``python -m runner.doctor [--online]``: what this machine can do, a line each with what to do about it.

Exit code 0 even where something is missing; 1 where the default run does not work. Keys are told by name only.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from runner.checkup import data, kept, machine, models
from runner.checkup.line import BAD, OK, Line
from runner.terminal import output as terminal

_HOME = Path(__file__).resolve().parent.parent
_SECONDS = 60.0


def main(argv: Sequence[str] | None = None) -> int:
    """Look at everything and print it. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m runner.doctor", description="What this machine can do.")
    parser.add_argument("--online", action="store_true", help="also try endpoints that are not on this machine")
    online = parser.parse_args(argv).online
    parts: list[tuple[str, Callable[[], list[Line]]]] = [
        ("python", machine.python),
        ("machine", machine.machine),
        ("models", lambda: [*models.keys(), *models.endpoints(online)]),
        ("data", data.data),
        ("sandbox", machine.sandbox),
        ("tracking", kept.store),
        ("journal", kept.journal),
        ("engines and extras", machine.extras),
    ]
    with _default_run() as default:
        told = [(title, _looked(title, look)) for title, look in parts]
        told.append(("default run", [verdict := default()]))
    terminal.exit_code_of(lambda: _print(told))
    return 1 if verdict.mark == BAD else 0


def _print(told: Sequence[tuple[str, list[Line]]]) -> None:
    width = max(len(line.name) for _, lines in told for line in lines)
    for title, lines in told:
        print(title)  # noqa: T201
        for line in lines:
            hint = f"  ->  {line.hint}" if line.hint else ""
            print(f"  {line.mark:4} {line.name:{width}}  {line.found}{hint}")  # noqa: T201


def _looked(title: str, look: Callable[[], list[Line]]) -> list[Line]:
    """What a look finds, be it that a library for it is missing."""
    try:
        return look()
    except ImportError as error:
        return [Line(BAD, title, str(error), "make run installs what is needed")]


@contextmanager
def _default_run() -> Iterator[Callable[[], Line]]:
    """One sample of the defaults, played meanwhile in a process and a folder of its own; without the journal."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "runner", "limit=1", "tracking=off", "run.journal=null"]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(_HOME), os.environ.get("PYTHONPATH")]))}
        with subprocess.Popen(
            command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                yield lambda: _verdict(process)
            finally:
                process.kill()


def _verdict(process: subprocess.Popen[str]) -> Line:
    """How it ended, and whether its folder could have been made here."""
    try:
        _, said = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return Line(BAD, "one sample", f"not over after {_SECONDS:.0f} s", "is the machine busy, or the disk slow?")
    if process.returncode:
        last = (said.strip().splitlines() or ["it said nothing"])[-1]
        return Line(
            BAD, "one sample", f"exit code {process.returncode}: {last}", "python -m runner limit=1 shows it all"
        )
    outputs = Path("outputs")
    there = outputs if outputs.exists() else Path(".")
    if not os.access(there, os.W_OK):
        return Line(BAD, "one sample", f"{there.resolve()} is read-only", "runs are written there: start elsewhere")
    return Line(OK, "one sample", "played", "python -m runner plays all")


if __name__ == "__main__":
    sys.exit(main())
