"""The process that runs cells: gives up all rights, reads a cell, runs it, writes one frame.

Nothing here protects anything once a cell runs: the process is the cell's. What holds it was set before, by the kernel.
"""

import ast
import builtins
import contextlib
import gc
import io
import linecache
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, CodeType, FunctionType, NoneType
from typing import Any, NoReturn

from components.sandbox import kernel, landlock, limiting, raised, seccomp, traces
from components.sandbox.api import CellError, Limits, Ran, Tier
from components.sandbox.frames import Reader, pack, pack_ran, plain

SEED = 0
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
_CELL_BYTES = 16 << 20
_FIXED = (
    FunctionType,
    BuiltinFunctionType,
    str,
    bytes,
    int,
    float,
    bool,
    NoneType,
)  # values that cannot be changed
_LONG = 1.0  # seconds of CPU time after which a process is not used again: the kernel counts all of its cells
_MOMENT = 0.002  # seconds without a cell after which there is time to rehearse
_BUILTINS = dict(vars(builtins))
# A forked process pays for every page of memory when it first writes to it: this writes to those that any cell needs.
_REHEARSAL = """
import json, math, re
def f(values, key="a", **more):
    return sorted([str(v).strip() for v in values if v is not None], key=len)
found = {"a": f([1, 2.5, None, "x" * 300]), **{str(n): [n] * 9 for n in range(40)}}
text = f"{found['a']!r} {math.floor(2.5)} {re.sub('x+', 'y', 'axb')}".upper()
try:
    found["b"]
except KeyError as error:
    text += str(error)
print(text)
answer = json.loads(json.dumps(found))
raise ValueError(text)
"""


@dataclass(frozen=True)
class Settings:
    """The settings of a worker."""

    limits: Limits
    keep: bool
    tier: Tier
    scratch: str
    rehearsal: str
    clean: raised.Clean


def _give_up_rights(settings: Settings) -> None:
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    kernel.die_with_parent(signal.SIGKILL)
    limiting.apply(settings.limits, settings.keep)
    kernel.no_new_privileges()
    if settings.tier == "landlock":
        landlock.keep_names()
    if settings.tier != "rlimits":
        kernel.drop_capabilities()
        _start_threads()
        seccomp.install()


def _start_threads() -> None:
    """Let libraries that compute in threads of their own start them, one each: cells cannot."""
    if arrow := sys.modules.get("pyarrow"):
        arrow.set_cpu_count(1)
        arrow.set_io_thread_count(1)
        source = arrow.acero.TableSourceNodeOptions(arrow.table({"a": [0]}))
        arrow.acero.Declaration("table_source", source).to_table()


def warm() -> None:
    """Do once what every process forked from this one would do again, in memory of its own."""
    _start_threads()
    seccomp.digest()
    here = os.getcwd()
    _rehearse({}, Settings(Limits(), False, "namespaces", here, "", raised.Clean({})))


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


def _answer(namespace: dict[str, Any], limits: Limits, clean: raised.Clean) -> Ran:
    if "answer" not in namespace:
        return Ran("no_answer")
    text = "".join((str(namespace["answer"]),))
    if len(text) <= limits.answer_bytes:
        text = plain(clean(text))
    if len(text) > limits.answer_bytes or len(text.encode()) > limits.answer_bytes:
        text = f"the text of `answer` is longer than {limits.answer_bytes} bytes"
        return Ran("too_large", error=CellError("TooLarge", "", text))
    return Ran("ok", text)


class Cells:
    """Reads cells and runs them: each in a namespace of its own, or all in one where variables are kept."""

    def __init__(self, names: Mapping[str, Any], settings: Settings) -> None:
        self._settings = settings
        self._given: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins, **names}
        self._namespace = dict(self._given)
        self._sources: dict[str, list[str]] = {}
        self._fixed = all(isinstance(value, _FIXED) for value in names.values())

    def run(self, cell: str, last: Callable[[], object]) -> Ran:
        """Run one; an exception is its result.

        ``last`` is called before one begins after which the process is to run no other. Unless variables are kept,
        nothing of it is held afterwards.
        """
        try:
            return self._run(cell, last)
        finally:
            if not self._settings.keep:
                self._namespace.clear()
                self._namespace.update(self._given)
                self._sources.clear()
                linecache.clearcache()

    def _run(self, cell: str, last: Callable[[], object]) -> Ran:
        name = f"<cell {len(self._sources) + 1}>" if self._sources else "<cell>"
        self._sources[name] = lines = raised.lines_of(cell)
        linecache.cache[name] = (len(cell), None, [f"{line}\n" for line in lines], name)
        self._namespace.pop("answer", None)
        try:
            try:
                exec(self._read(cell, name, last), self._namespace)
            finally:
                vars(builtins).update(_BUILTINS)
            return _answer(self._namespace, self._settings.limits, self._settings.clean)
        except BaseException as error:  # noqa: BLE001  also SystemExit and what a cell makes of its own
            return Ran("error", error=self._told(error, name))

    def _told(self, error: BaseException, name: str) -> CellError:
        """Its message, or only its type where even that takes too much."""
        try:
            return raised.parse(error, name, self._sources, self._settings.clean)
        except BaseException:  # noqa: BLE001  its text is code of the cell's, and there may be no memory left
            return CellError(type(error).__name__, "", "")

    def _read(self, cell: str, name: str, last: Callable[[], object]) -> CodeType:
        tree = ast.parse(cell, name)
        if not (self._settings.keep or (self._fixed and traces.leaves_none(tree))):
            last()
        return compile(tree, name, "exec", dont_inherit=True)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _read(descriptor: int, reader: Reader) -> dict[str, Any]:
    while (frame := reader.take()) is None:
        data = os.read(descriptor, 1 << 16)
        if not data:
            os._exit(0)
        reader.feed(data)
    return frame


def _rehearse(names: Mapping[str, Any], settings: Settings) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        reader = Reader(_CELL_BYTES)
        reader.feed(pack({"cell": _REHEARSAL}))
        asked = reader.take()
        assert asked is not None, "it was packed as a whole"
        pack_ran(Cells({}, settings).run(asked["cell"], bool), "")
        Cells(names, settings).run(settings.rehearsal, bool)
    linecache.clearcache()


def _spent(ran: Ran) -> bool:
    """Whether a process has used so much that the next cell has another."""
    return time.process_time() > _LONG or (ran.error is not None and ran.error.type == "MemoryError")


def live(
    cells: int, results: int, pledge: int, names: Mapping[str, Any], settings: Settings, rehearse: bool
) -> NoReturn:
    """Be a worker until the pipe of cells ends, or after a cell that may have left something in the process.

    Args:
        cells: descriptor from which frames with a cell come.
        results: descriptor to which one frame per cell goes.
        pledge: descriptor that is closed before a cell begins after which this process is to run no other. Nobody
            can open it again.
        names: what the cell's namespace holds.
        settings: limits and other settings.
        rehearse: whether there is time to make the first cell quicker.
    """
    reader, run = Reader(_CELL_BYTES), Cells(names, settings).run
    packed: Callable[[Ran, str], bytes] = pack_ran
    wait = os.read
    write, clock, leave, close = _write, time.perf_counter, os._exit, os.close
    lives = True

    def last() -> None:
        nonlocal lives
        lives = False
        close(pledge)

    _give_up_rights(settings)
    if rehearse and not select.select([cells], [], [], _MOMENT)[0]:
        _rehearse(names, settings)
    _fresh(settings)
    gc.enable()
    while True:
        output = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", "backslashreplace", write_through=False)
        sys.stdout = output
        asked = _read(cells, reader)
        os.chdir(settings.scratch)
        started = clock()
        ran = run(asked["cell"], last)
        if lives and not settings.keep and _spent(ran):
            last()
        seconds = clock() - started
        io.TextIOWrapper.flush(output)
        write(results, packed(Ran(ran.status, ran.answer, "", ran.error, seconds), asked["token"]))
        if not lives:
            close(results)
            wait(cells, 1)  # until the result has reached the host: ending takes a processor's time
            leave(0)
        _fresh(settings)
