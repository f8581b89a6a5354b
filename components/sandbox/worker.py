"""The process that runs cells: gives up all rights, then reads a cell, runs it, and writes one frame, again and again.

Results hold no traces of the machine. Once a cell runs, the process is the cell's: the kernel confines it before.
"""

import ast
import builtins
import contextlib
import gc
import io
import json
import linecache
import math
import os
import random
import re
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any, NoReturn

from components.sandbox import kernel, seccomp
from components.sandbox.api import MESSAGE_CHARS, CellError, Limits, Ran, Reader, Tier, pack, pack_ran, plain

SEED = 0
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
_CELL_BYTES = 16 << 20
_LONG = 1.0  # seconds of CPU time after which a process is not used again: the kernel counts all of its cells
_MOMENT = 0.002  # seconds without a cell after which there is time to rehearse
# A forked process pays for every page of memory on its first write: this writes to those that any cell needs.
_REHEARSAL = Path(__file__).with_name("rehearsal.txt").read_text()
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
    """Reads cells and runs them: each in a fresh namespace, or all in one where variables are kept."""

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
            if "answer" not in self._namespace:
                return Ran("no_answer")
            text, most = "".join((str(self._namespace["answer"]),)), self._settings.limits.answer_bytes
            if len(text) <= most:
                text = plain(self._settings.clean(text))
            if len(text) > most or len(text.encode()) > most:
                text = f"the text of `answer` is longer than {most} bytes"
                return Ran("too_large", error=CellError("TooLarge", "", text))
            return Ran("ok", text)
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


def remember(cell: str, name: str) -> None:
    """Let messages quote a cell's lines, as the compiler counts them."""
    linecache.cache[name] = (len(cell), None, [f"{line}\n" for line in re.split(r"\r\n|\r|\n", cell)], name)


def leaves_nothing(tree: ast.AST) -> bool:
    """Whether code reaches only its own variables and the functions in its namespace, as its text shows: then its
    process may run the next cell, where nothing survives (arXiv 2401.07128, section 3)."""
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
    """The exception of a cell with this file name, its line, and frames of cells only: others show the machine. A
    syntax error has the reported line. May raise what the exception's own ``__str__`` raises."""
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


def _give_up_rights(settings: Settings) -> None:
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    kernel.prctl(kernel.PARENT_DEATH_SIGNAL, signal.SIGKILL)
    set_limits(settings.limits, settings.keep)
    kernel.prctl(kernel.NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if settings.tier == "landlock":
        kernel.keep_names()
    if settings.tier != "rlimits":
        kernel.drop_capabilities()
        _start_threads()
        seccomp.install()


def set_limits(limits: Limits, keep: bool) -> None:
    """Set the kernel's limits of this process, for good. The supervisor limits CPU and wall time of a cell; where no
    variables are kept the kernel limits CPU time, too, with room for the cells that the process ran before."""
    values = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
    }
    if not keep:
        values[resource.RLIMIT_CPU] = math.ceil(limits.cpu_seconds) + 2
    for what, value in values.items():
        hard = resource.getrlimit(what)[1]
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (least, least))


def _start_threads() -> None:
    """Let libraries that compute in threads start them, one each: cells cannot."""
    if arrow := sys.modules.get("pyarrow"):
        arrow.set_cpu_count(1)
        arrow.set_io_thread_count(1)
        source = arrow.acero.TableSourceNodeOptions(arrow.table({"a": [0]}))
        arrow.acero.Declaration("table_source", source).to_table()


def warm() -> None:
    """Do once what every process forked from this one would do again, in its own memory."""
    _start_threads()
    seccomp.digest()
    _rehearse({}, Settings(Limits(), False, "namespaces", os.getcwd(), "", Clean({})))


def _fresh(settings: Settings) -> None:
    """The same start for every cell: environment, folder, chance."""
    os.environ.clear()
    os.environ.update(_ENVIRONMENT, HOME=settings.scratch)
    os.chdir(settings.scratch)
    seeded = random.Random(SEED)
    random.seed(SEED)
    vars(os)["urandom"] = seeded.randbytes
    vars(random)["_urandom"] = seeded.randbytes
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(SEED)


def _rehearse(names: Mapping[str, Any], settings: Settings) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        reader = Reader(_CELL_BYTES)
        reader.feed(pack({"cell": _REHEARSAL}))
        reader.take()
        pack_ran(Cells({}, settings).run(_REHEARSAL, bool), "")
        Cells(names, settings).run(settings.rehearsal, bool)
    linecache.clearcache()


def serve(
    names: Mapping[str, Any], settings: Settings, rehearse: bool, cells: int, results: int, pledge: int
) -> NoReturn:
    """Be a worker until the pipe of cells ends, or after a cell that may have left something in the process. Frames
    come from ``cells`` and go to ``results``; ``pledge`` is closed before a cell after which this process must run no
    other. ``rehearse``: make the first cell quicker, where there is time."""
    reader, run = Reader(_CELL_BYTES), Cells(names, settings).run
    packed: Callable[[Ran, str], bytes] = pack_ran
    wait, write, clock, leave, close = os.read, os.write, time.perf_counter, os._exit, os.close
    stays = True

    def last() -> None:
        nonlocal stays
        stays = False
        close(pledge)

    _give_up_rights(settings)
    if rehearse and not select.select([cells], [], [], _MOMENT)[0]:
        _rehearse(names, settings)
    _fresh(settings)
    gc.enable()
    while True:
        output = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", "backslashreplace", write_through=False)
        sys.stdout = output
        while (request := reader.take()) is None:
            if not (came := wait(cells, 1 << 16)):
                leave(0)
            reader.feed(came)
        os.chdir(settings.scratch)
        started = clock()
        ran = run(request["cell"], last)
        spent = time.process_time() > _LONG or (ran.error is not None and ran.error.type == "MemoryError")
        if stays and not settings.keep and spent:
            last()
        seconds = clock() - started
        io.TextIOWrapper.flush(output)
        data = packed(Ran(ran.status, ran.answer, "", ran.error, seconds), request["token"])
        while data:
            data = data[write(results, data) :]
        if not stays:
            close(results)
            wait(cells, 1)  # until the result has reached the host: ending takes a processor's time
            leave(0)
        _fresh(settings)
