"""The code sandbox: what a step and an episode cost beyond plain execution, and what memory they take."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Settings, middle, span
from benchmarks.processes import resident_mb

TIERS = ("namespaces", "bwrap", "landlock")
PAUSES = {"after 50 ms": 0.05, "in a tight loop": 0.0}  # seconds before each cell; a model takes longer
_CROWD = 8  # other open episodes: more than those whose processes wait
CELL = (
    "table = LoadDB('patient')\ntable = FilterDB(table, 'age>=50||gender=male')\n"
    "answer = GetValue(table, 'uniquepid, count'), SQLInterpreter('select count(*) from patient')"
)
REHEARSAL = (
    "t = LoadDB('patient')\nt = FilterDB(t, 'gender=female||age<30')\nGetValue(t, 'age, max')\n"
    "answer = SQLInterpreter('select max(age) from patient')"
)
CELLS = {"the tools' cell": CELL, "a trivial cell": "answer = sum(range(1000))"}
_MODULE = "components.ehr.cell"
_HOW = {False: "nothing kept", True: "variables kept"}


@contextmanager
def _database() -> Iterator[tuple[Path, Path]]:
    """The largest included database where it is there, else a small one; and its tables in columns."""
    from components.ehr.columns import prepare
    from components.ehr.metadata import metadata

    root = os.environ.get("CLINICAL_DATA_DIR")
    real = Path(root, "ehragent_demo", "eicu", "eicu.db") if root else None
    with tempfile.TemporaryDirectory(prefix="wardround-bench-") as folder:
        file = real if real is not None and real.is_file() else _made(Path(folder, "made.db"))
        yield file, prepare(file, metadata("eicu"), Path(folder, "tables"))


def _made(file: Path) -> Path:
    with sqlite3.connect(file) as made:
        made.execute("create table patient (uniquepid varchar(20), age int, gender varchar(25))")
        rows = ((f"p{n}", n % 90, ("male", "female")[n % 2]) for n in range(1000))
        made.executemany("insert into patient values (?, ?, ?)", rows)
    made.close()
    return file


@contextmanager
def _sandbox(tier: str, keep: bool = False) -> Iterator[Any]:
    """A way to open sessions of a tier over the database, and the functions themselves."""
    from components.sandbox import Library, Sandbox

    with _database() as (file, tables):
        arguments = {"file": str(file), "tables": str(tables), "database": "eicu"}
        library = Library(_MODULE, arguments, (file, tables), REHEARSAL)
        made = Sandbox(backend=tier)  # type: ignore[arg-type]
        try:
            yield lambda keep=keep: made.open(library, keep), arguments
        finally:
            made.close()


def held() -> list[str]:
    """The tiers that this machine has."""
    from components.sandbox import flaw

    return [tier for tier in TIERS if not flaw(tier)]


def steps(tier: str, n: int, keep: bool, cell: str, pause: float, others: int = 0) -> dict[str, list[float]]:
    """Milliseconds of the same cell, plain and as a step, in turns, while so many other episodes are open."""
    return asyncio.run(_steps(tier, n, keep, cell, pause, others))


async def _steps(tier: str, n: int, keep: bool, cell: str, pause: float, others: int) -> dict[str, list[float]]:
    from components.ehr.cell import names

    taken: dict[str, list[float]] = {"plain": [], "step": []}
    with _sandbox(tier, keep) as (opened, arguments):
        neighbours, session, given = [opened() for _ in range(others)], opened(), names(**arguments)
        for other in neighbours:
            await other.run(cell)
        expected: dict[str, Any] = dict(given)
        exec(compile(cell, "<cell>", "exec"), expected)
        assert (await session.run(cell)).answer == str(expected["answer"])
        for _ in range(n):
            if pause:
                await asyncio.sleep(pause)
            started = time.perf_counter()
            exec(compile(cell, "<cell>", "exec"), dict(given))
            between = time.perf_counter()
            ran = await session.run(cell)
            taken["step"].append(1e3 * (time.perf_counter() - between))
            taken["plain"].append(1e3 * (between - started))
            assert ran.status == "ok", ran.error
    return taken


def episodes(tier: str, n: int) -> dict[str, Any]:
    """Milliseconds until a new episode has run a first cell, and to close it; memory after a tenth and at the end."""
    return asyncio.run(_episodes(tier, n))


async def _episodes(tier: str, n: int) -> dict[str, Any]:
    opened_ms: list[float] = []
    closed_ms: list[float] = []
    memory: list[float] = []
    with _sandbox(tier) as (opened, _):
        first = opened()
        await first.run(CELL)
        first.close()
        for number in range(n):
            started = time.perf_counter()
            session = opened()
            await session.run("answer = 1")
            ready = time.perf_counter()
            assert (await session.run(CELL)).status == "ok"
            between = time.perf_counter()
            session.close()
            closed_ms.append(1e3 * (time.perf_counter() - between))
            opened_ms.append(1e3 * (ready - started))
            if number in (n // 10, n - 1):
                memory.append(resident_mb() + proportional_mb())
    return {"opened": opened_ms, "closed": closed_ms, "grown_mb": memory[-1] - memory[0], "mb": memory[-1]}


def at_once(tier: str, n: int) -> dict[str, float]:
    """Memory of so many episodes that hold variables; the zygote is among them."""
    return asyncio.run(_at_once(tier, n))


async def _at_once(tier: str, n: int) -> dict[str, float]:
    found = {}
    for keep in (True, False):
        with _sandbox(tier, keep) as (opened, _):
            sessions = [opened() for _ in range(n)]
            for session in sessions:
                assert (await session.run(CELL)).status == "ok"
            await asyncio.sleep(0.2)
            found["kept" if keep else "fresh"] = proportional_mb()
    return found


def proportional_mb() -> float:
    """Memory of all processes below this one, what they share counted once."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    below, todo = [], [os.getpid()]
    while todo:
        parent = todo.pop()
        children = [child for child, of in parents.items() if of == parent]
        below += children
        todo += children
    return sum(_pss_kb(pid) for pid in below) / 1024


def _pss_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (OSError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def row(settings: Settings) -> Sequence[Figure]:
    """Code in the sandbox: overhead of a step, a fresh episode and memory, on each tier that the machine has."""
    figures: list[Figure] = []
    for place, tier in enumerate(held()):
        n = settings.count(100 if place else 1000)  # the first is the one that is used
        figures += _loops(settings, tier, n)
        taken_ms = settings.run("sandbox.episodes", tier=tier, n=n)
        figures += [
            Figure("sandbox", f"{tier}: a fresh episode and its first cell", middle(taken_ms["opened"]), "ms", 30,
                   detail=f"{span(taken_ms['opened'])}; closing it {middle(taken_ms['closed']):.1f} ms"),
            Figure("sandbox", f"{tier}: memory grown over {n:,} episodes", taken_ms["grown_mb"], "MB", 10,
                   detail=f"{taken_ms['mb']:.0f} MB at the end, host included"),
        ]  # fmt: skip
        if not place:
            many = settings.count(30)
            taken = settings.run("sandbox.at_once", tier=tier, n=many)
            figures += [
                Figure("sandbox", f"{tier}: {many} episodes at once, {how}", taken[mode], "MB", 300,
                       detail="proportional, the zygote included")
                for mode, how in (("fresh", _HOW[False]), ("kept", _HOW[True]))
            ]  # fmt: skip
    return figures


def _loops(settings: Settings, tier: str, n: int) -> list[Figure]:
    """A step as a user sees it: both modes, both cells, with and without a pause before each; among many episodes."""
    alone = [_step(settings, tier, n, keep, cell, pace) for keep in (False, True) for cell in CELLS for pace in PAUSES]
    return [*alone, *(_step(settings, tier, n, False, cell, next(iter(PAUSES)), _CROWD) for cell in CELLS)]


def _step(settings: Settings, tier: str, n: int, keep: bool, cell: str, pace: str, others: int = 0) -> Figure:
    arguments = {"tier": tier, "n": n, "keep": keep, "cell": CELLS[cell], "pause": PAUSES[pace], "others": others}
    taken = settings.run("sandbox.steps", **arguments)
    plain, step = middle(taken["plain"]), middle(taken["step"])
    taken_ms = f"median of {n:,}: {step:.2f} and {plain:.2f} ms; least {min(taken['step']) - min(taken['plain']):.2f}"
    crowd = f", {others} other episodes open" if others else ""
    name = f"{tier}: a step beyond plain execution, {cell} {pace}, {_HOW[keep]}{crowd}"
    return Figure("sandbox", name, max(0.0, step - plain), "ms", 1, detail=taken_ms)
