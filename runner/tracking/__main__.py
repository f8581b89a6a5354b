"""Send runs that are not in MLflow yet: ``python -m runner.tracking [PLACE ...]``; a PLACE is a folder with
``unsent/``.

Commands start it with ``--follow`` and write what they do to its standard input.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Timer
from typing import Any

import orjson

from runner.terminal.command import print_note
from runner.tracking import unsent
from runner.tracking.process import FOLLOW
from runner.tracking.send import Progress, send_unsent
from runner.tracking.store import PLACE

_EVERY_SECONDS, _SILENT_SECONDS = 10.0, 5.0
_NICENESS = 10  # the calls of the run come first


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow a command, or send once and print what became of it. Returns the exit code: 1 where something could not be
    sent, 2 where no runs were tracked."""
    parser = argparse.ArgumentParser(prog="python -m runner.tracking", description=__doc__, allow_abbrev=False)
    parser.add_argument("places", nargs="*", type=Path, default=[PLACE, *PLACE.glob("*/")], metavar="PLACE",
                        help="by default outputs/.mlflow")  # fmt: skip
    parser.add_argument(FOLLOW, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.follow:
        os.nice(_NICENESS)
        follow(sys.stdin.fileno())
        return 0
    places = [place for place in options.places if (place / unsent.FOLDER).is_dir()]
    if not places:
        print_note(f"no runs were tracked in {options.places[0]}: start in the folder of the runs, or name their PLACE")
        return 2
    with closing(SendProgress(sum(len(unsent.markers(place)) for place in places))) as progress:
        found = [send_unsent(place, report=progress.report) for place in places]
    for place, outcome in zip(places, found, strict=True):
        if outcome.failed:
            print_note(unsent.note_of(place, outcome.failed))
    sent, aside = sum(one.sent for one in found), sum(one.aside for one in found)
    failed = sum(len(one.failed) for one in found) - aside
    left = sum(len(unsent.markers(place)) for place in places)
    if not (n := sent + aside + left):
        print_note("all runs are in MLflow; make ui shows them")
        return 0
    others = {"failed": failed, "put aside": aside, "still running, or of another machine": left - failed}
    facts = [f"sent {sent} of {n}", *(f"{k} {what}" for what, k in others.items() if k > 0)]
    print_note("; ".join(facts))
    return int(bool(failed or aside))


class SendProgress:
    """How many of ``n`` are sent: in place on a terminal, else in a line every ten seconds at most; and once for each
    what takes seconds."""

    def __init__(self, n: int) -> None:
        self._n, self._sent, self._printed = n, 0, time.monotonic()
        self._names = {""}  # of whom a line was printed
        self._is_live, self._timer = sys.stderr.isatty(), Timer(0, lambda: None)

    def report(self, whom: str) -> None:
        """Something was sent, or begins to wait for somebody."""
        self._timer.cancel()
        self._sent += not whom
        text, now = f"{self._sent} of {self._n} sent", time.monotonic()
        self._put(text)
        if not (self._is_live or whom) and self._sent < self._n and now > self._printed + _EVERY_SECONDS:
            self._printed = now
            print_note(text)
        if whom not in self._names:
            self._timer = Timer(_SILENT_SECONDS, self._name, [whom])
            self._timer.start()

    def _name(self, whom: str) -> None:
        self._names.add(whom)
        self._put("")
        print_note(f"waiting for {whom}, {_SILENT_SECONDS:.0f} s so far")

    def _put(self, text: str) -> None:
        """Replace the line of a terminal."""
        if self._is_live:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)  # noqa: T201

    def close(self) -> None:
        """Leave no line behind."""
        self._timer.cancel()
        self._put("")


def follow(source: int) -> None:
    """Send progress and finished runs as they are read. When the writer has ended, send the rest."""
    progress, places, rest = Progress(), dict[Path, None](), b""
    while data := os.read(source, 1 << 16):
        *lines, rest = (rest + data).split(b"\n")
        messages: list[dict[str, Any]] = [orjson.loads(line) for line in lines]
        newest = {Path(message["marker"]): message["figures"] for message in messages}
        places |= {marker.parent.parent: None for marker in newest}
        finished = [marker for marker, figures in newest.items() if figures is None]
        for place in places:
            send_unsent(place, [marker for marker in finished if marker.parent.parent == place])
        for marker, figures in newest.items():
            if figures is None:
                progress.forget(marker)
            else:
                progress.send(marker, figures)
    for place in places:
        send_unsent(place)


if __name__ == "__main__":
    sys.exit(main())
