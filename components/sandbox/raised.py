"""What the author of a cell sees of an exception: type, message and the innermost line of the cell.

Frames of other files are left out: their paths and lines are those of the machine.
"""

import re
import traceback
from collections.abc import Mapping
from types import TracebackType

from components.sandbox.api import CellError
from components.sandbox.frames import MESSAGE_CHARS, plain

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,16}\b")
_FRAMES = 20  # of a deep recursion the outermost and the innermost


class Clean:
    """Takes out of a text what differs between runs and machines: addresses, and paths by a table."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = sorted(paths.items(), key=lambda item: -len(item[0]))

    def __call__(self, text: str) -> str:
        if "0x" in text:
            text = _ADDRESS.sub("at 0x...", text)
        for path, name in self._paths:
            if path in text:
                text = text.replace(path, name)
        return text


def lines_of(cell: str) -> list[str]:
    """The lines as the compiler counts them."""
    return re.split(r"\r\n|\r|\n", cell)


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARS else text[: MESSAGE_CHARS - 3] + "..."


def _message(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and isinstance(error.msg, str):
        return error.msg
    return "".join((str(error),))


def _places(trace: TracebackType | None, sources: Mapping[str, list[str]]) -> list[tuple[str, int, str]]:
    """File, line and function of every frame that belongs to a cell, outermost first."""
    found = [(frame.f_code.co_filename, number, frame.f_code.co_name) for frame, number in traceback.walk_tb(trace)]
    return [place for place in found if place[0] in sources]


def _line(sources: Mapping[str, list[str]], name: str, number: int | None) -> str:
    lines = sources.get(name, [])
    return lines[number - 1] if number and 0 < number <= len(lines) else ""


def _trace(places: list[tuple[str, int, str]], sources: Mapping[str, list[str]], last: str) -> str:
    if len(places) > _FRAMES:
        places = places[: _FRAMES // 2] + places[-_FRAMES // 2 :]
    shown = [
        f'  File "{name}", line {number}, in {function}\n    {_line(sources, name, number).strip()}\n'
        for name, number, function in places
    ]
    return "".join(("Traceback (most recent call last):\n", *shown, last))


def parse(error: BaseException, name: str, sources: Mapping[str, list[str]], clean: Clean) -> CellError:
    """The exception of a cell; ``sources`` are the lines of this and earlier cells by their file name.

    A syntax error of the cell itself has the reported line. May raise what the exception's own ``__str__`` raises.
    """
    kind = getattr(error, "kind", "")
    message = _cut(plain(clean(_message(error))))
    places = _places(error.__traceback__, sources)
    if isinstance(error, SyntaxError) and error.filename == name and not places and isinstance(error.lineno, int):
        places = [(name, error.lineno, "<module>")]
    own = [place for place in places if place[0] == name]
    number = own[-1][1] if own else None
    shown = plain(type(error).__name__)[:200]
    trace = _trace(places, sources, f"{shown}: {message}" if message else shown)
    return CellError(
        shown,
        _cut(plain(kind)) if type(kind) is str else "",
        message,
        number,
        _cut(plain(_line(sources, name, number))),
        _cut(plain(trace)),
    )
