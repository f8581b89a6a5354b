"""Runs cells in a namespace, and describes what became of them: answer, or exception without traces of the machine.

Nothing here protects anything once a cell runs: the process is the cell's. What confines it is set before, by the
kernel.
"""

import ast
import builtins
import json
import linecache
import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any

from components.sandbox.api import MESSAGE_CHARS, CellError, Limits, Ran, Tier, plain

_BUILTINS = dict(vars(builtins))
_CONSTANT = (FunctionType, BuiltinFunctionType, str, bytes, int, float, bool, NoneType)  # types without state to change
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,16}\b")
_FRAMES = 20  # of a deep recursion the outermost and the innermost
# Names that leave nothing in the process; what is missing here costs time and nothing else.
_HARMLESS = json.loads(Path(__file__).with_name("harmless.json").read_text())
_HARMFUL_NAMES = frozenset(dir(builtins)).difference(*map(str.split, _HARMLESS.pop("builtins")))
_ATTRIBUTES = frozenset(name for lines in _HARMLESS.values() for line in lines for name in line.split())
_STATEMENTS = (
    ast.Import, ast.ImportFrom, ast.ClassDef, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await,
    ast.With, ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Match,
)  # fmt: skip


class Clean:
    """Removes from a text what differs between runs and machines: addresses, and paths by a table."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = sorted(paths.items(), key=lambda item: -len(item[0]))

    def __call__(self, text: str) -> str:
        text = _ADDRESS.sub("at 0x...", text) if "0x" in text else text
        for path, name in self._paths:
            text = text.replace(path, name)
        return text


@dataclass(frozen=True)
class Settings:
    """The settings of an episode's workers."""

    limits: Limits
    keep: bool
    tier: Tier
    scratch: str
    rehearsal: str
    clean: Clean


class Cells:
    """Reads cells and runs them: each in a namespace of its own, or all in one where variables are kept."""

    def __init__(self, names: Mapping[str, Any], settings: Settings) -> None:
        self._settings = settings
        self._names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins, **names}
        self._namespace = dict(self._names)
        self._n_cells = 0
        self._constant = all(isinstance(value, _CONSTANT) for value in names.values())

    def run(self, cell: str, last: Callable[[], object]) -> Ran:
        """Run one; an exception is its result. Unless variables are kept, they are forgotten afterwards. ``last`` is
        called before a cell after which the process must run no other."""
        self._n_cells += 1
        name, keep = f"<cell {self._n_cells}>" if self._n_cells > 1 else "<cell>", self._settings.keep
        remember(cell, name)
        self._namespace.pop("answer", None)
        try:
            try:
                tree = ast.parse(cell, name)
                if not (keep or (self._constant and leaves_nothing(tree))):
                    last()
                exec(compile(tree, name, "exec", dont_inherit=True), self._namespace)
            finally:
                vars(builtins).update(_BUILTINS)
            return _answer(self._namespace, self._settings.limits, self._settings.clean)
        except BaseException as error:  # noqa: BLE001  also SystemExit and a cell's own classes
            try:
                described = describe(error, name, self._settings.clean)
            except BaseException:  # noqa: BLE001  its text is code of the cell's, and there may be no memory left
                described = CellError(type(error).__name__, "", "")
            return Ran("error", error=described)
        finally:
            if not keep:
                self._namespace.clear()
                self._namespace.update(self._names)
                self._n_cells = 0
                linecache.clearcache()


def _answer(namespace: dict[str, Any], limits: Limits, clean: Clean) -> Ran:
    if "answer" not in namespace:
        return Ran("no_answer")
    text = "".join((str(namespace["answer"]),))
    if len(text) <= limits.answer_bytes:
        text = plain(clean(text))
    if len(text) > limits.answer_bytes or len(text.encode()) > limits.answer_bytes:
        text = f"the text of `answer` is longer than {limits.answer_bytes} bytes"
        return Ran("too_large", error=CellError("TooLarge", "", text))
    return Ran("ok", text)


def remember(cell: str, name: str) -> None:
    """Let messages quote a cell's lines, as the compiler counts them."""
    linecache.cache[name] = (len(cell), None, [f"{line}\n" for line in re.split(r"\r\n|\r|\n", cell)], name)


def leaves_nothing(tree: ast.AST) -> bool:
    """Whether code reaches only its own variables and the functions in its namespace, as its text shows. Then its
    process may run the next cell of the episode, which is cheaper than a new one. Source: of the paper's environment,
    where nothing survives from cell to cell (arXiv 2401.07128, section 3)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            harmless = node.id not in _HARMFUL_NAMES and not node.id.startswith("__")
        elif isinstance(node, ast.Attribute):
            harmless = node.attr in _ATTRIBUTES and isinstance(node.ctx, ast.Load)
        else:
            harmless = not isinstance(node, _STATEMENTS)
        if not harmless:
            return False
    return True


def describe(error: BaseException, name: str, clean: Clean) -> CellError:
    """The exception of a cell with this file name: its type, message and innermost line. Frames of other files than
    cells are left out: their paths and lines are those of the machine. A syntax error of the cell itself has the
    reported line. May raise what the exception's own ``__str__`` raises."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith("<cell")]
    if isinstance(error, SyntaxError) and error.filename == name and not frames and isinstance(error.lineno, int):
        frames = [traceback.FrameSummary(name, error.lineno, "<module>")]
    number = next((frame.lineno for frame in reversed(frames) if frame.filename == name), None)
    line = linecache.getline(name, number).removesuffix("\n") if number else ""
    kind, type_name = getattr(error, "kind", ""), plain(type(error).__name__)[:200]
    own = error.msg if isinstance(error, SyntaxError) and isinstance(error.msg, str) else "".join((str(error),))
    message = _cut(clean(own))
    if len(frames) > _FRAMES:
        frames = frames[: _FRAMES // 2] + frames[-_FRAMES // 2 :]
    lines = [f'  File "{one.filename}", line {one.lineno}, in {one.name}\n    {one.line}\n' for one in frames]
    last = f"{type_name}: {message}" if message else type_name
    trace = "".join(("Traceback (most recent call last):\n", *lines, last))
    return CellError(type_name, _cut(kind) if type(kind) is str else "", message, number, _cut(line), _cut(trace))


def _cut(text: str) -> str:
    text = plain(text)
    return text if len(text) <= MESSAGE_CHARS else text[: MESSAGE_CHARS - 3] + "..."
