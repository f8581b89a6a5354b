"""What the journal costs: `python -m benchmarks.journal [ENTRIES] [SEGMENTS]` (default 1,000,000 and 500).

Every opening is measured in a fresh process. Ratios are to a bare unbuffered append of the same payload.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from runner.storage.journal import Journal

WORDS = [f"{word}{n}" for word in ("patient", "lesion", "dose", "finding", "tool", "step") for n in range(90)]
LOOKUPS = 2_000


def key_of(n: int) -> bytes:
    return sha256(f"key {n}".encode()).digest()


def payload_of(n: int) -> bytes:
    """About 2 kB, as compressible as an entry with digests and a reply."""
    draw = random.Random(n)
    digests = [draw.randbytes(8).hex() for _ in range(6)]
    text = " ".join(draw.choices(WORDS, k=200))
    return json.dumps({"at": [str(n), 0, "main", 0], "digests": digests, "reply": {"content": text}}).encode()


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def fill(folder: Path, first: int, entries: int, payloads: list[bytes]) -> float:
    """Write one process' entries; microseconds per put."""
    keys = [key_of(n) for n in range(first, first + entries)]
    started = time.perf_counter()
    with Journal(folder) as journal:
        for n, key in enumerate(keys):
            journal.put(key, payloads[n % len(payloads)])
    return (time.perf_counter() - started) / entries * 1e6


def bare_append(folder: Path, payloads: list[bytes]) -> float:
    file = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    started = time.perf_counter()
    for payload in payloads:
        os.write(file, payload)
    os.close(file)
    return (time.perf_counter() - started) / len(payloads) * 1e6


def timed(calls: list[bytes], call: Callable[[bytes], object]) -> float:
    started = time.perf_counter()
    for key in calls:
        call(key)
    return (time.perf_counter() - started) / len(calls) * 1e6


def probe(folder: Path, entries: int) -> None:
    """In a process of its own: open, ask, tell as JSON."""
    before, started = resident_mb(), time.perf_counter()
    journal = Journal(folder)
    opened, after = time.perf_counter() - started, resident_mb()
    at_once = timed([key_of(-1 - n) for n in range(LOOKUPS)], journal.get)
    journal.close()
    draw = random.Random(0)
    missing = [key_of(-1 - n) for n in range(LOOKUPS, 2 * LOOKUPS)]
    first = draw.randrange(max(entries - LOOKUPS, 1))
    there = [key_of(draw.randrange(entries)) for _ in range(LOOKUPS)]
    in_order = [key_of(first + n) for n in range(min(LOOKUPS, entries))]
    figures = {
        "open_ms": opened * 1e3,
        "open_mb": after - before,
        "miss_us_at_once": at_once,
        "miss_us": timed(missing, journal.get),
        "hit_us_random": timed(there, journal.get),
        "hit_us_in_order": timed(in_order, journal.get),
        "all_mb": resident_mb() - before,
    }
    print(json.dumps(figures))


def show(title: str, folder: Path, entries: int) -> None:
    command = [sys.executable, "-m", "benchmarks.journal", str(entries), "--probe", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    print(title, " ".join(f"{name}={value:,.1f}" for name, value in json.loads(done.stdout).items()), flush=True)


def measure(folder: Path, entries: int, segments: int) -> None:
    payloads = [payload_of(n) for n in range(2_000)]
    bare = bare_append(folder, payloads)
    one, many = folder / "one", folder / "many"
    cost = fill(one, 0, entries, payloads)
    size = sum(path.stat().st_size for path in one.iterdir()) / entries
    mean = sum(map(len, payloads)) / len(payloads)
    print(
        f"put: {cost:.1f} us, {cost / bare:.1f} x a bare append ({bare:.1f} us); {size:,.0f} of {mean:,.0f} bytes kept"
    )
    show(f"{entries:,} entries, one process:", one, entries)
    many.mkdir()
    for part in range(segments):  # as if each had been written at once with the others: nobody merged
        fill(folder / "part", part * (entries // segments), entries // segments, payloads)
        for path in (folder / "part").glob("[0-9a-f]*.*"):
            path.rename(many / path.name)
    for title in (f"{segments} segments, not merged:", f"{segments} segments, merged:"):
        show(title, many, entries // segments * segments)
    for path in many.glob("*.index"):
        path.unlink()
    show(f"{segments} segments, all dead (killed):", many, entries // segments * segments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("entries", nargs="?", type=int, default=1_000_000)
    parser.add_argument("segments", nargs="?", type=int, default=500)
    parser.add_argument("--probe", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.probe:
        probe(arguments.probe, arguments.entries)
        return
    folder = Path(tempfile.mkdtemp(prefix="wardround-journal-"))
    try:
        measure(folder, arguments.entries, arguments.segments)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
