"""The process that runs cells: gives up all rights, reads a cell, runs it, writes one frame."""

import contextlib
import gc
import io
import linecache
import math
import os
import random
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from components.sandbox import kernel
from components.sandbox.api import Limits, Ran, Reader, pack, pack_ran
from components.sandbox.cells import Cells, Clean, Settings

SEED = 0
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
_CELL_BYTES = 16 << 20
_LONG = 1.0  # seconds of CPU time after which a process is not used again: the kernel counts all of its cells
_MOMENT = 0.002  # seconds without a cell after which there is time to rehearse
# A forked process pays for every page of memory on its first write: this writes to those that any cell needs.
_REHEARSAL = Path(__file__).with_name("rehearsal.txt").read_text()


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
        kernel.install()


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
    """Let libraries that compute in threads of their own start them, one each: cells cannot."""
    if arrow := sys.modules.get("pyarrow"):
        arrow.set_cpu_count(1)
        arrow.set_io_thread_count(1)
        source = arrow.acero.TableSourceNodeOptions(arrow.table({"a": [0]}))
        arrow.acero.Declaration("table_source", source).to_table()


def warm() -> None:
    """Do once what every process forked from this one would do again, in memory of its own."""
    _start_threads()
    kernel.digest()
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
    """Be a worker until the pipe of cells ends, or after a cell that may have left something in the process.

    ``rehearse``: make the first cell quicker, where there is time. Descriptors: frames with a cell come from ``cells``,
    one frame per cell goes to ``results``; ``pledge`` is closed, for good, before a cell after which this process must
    run no other.
    """
    reader, run = Reader(_CELL_BYTES), Cells(names, settings).run
    packed: Callable[[Ran, str], bytes] = pack_ran
    wait = os.read
    write, clock, leave, close = os.write, time.perf_counter, os._exit, os.close
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
