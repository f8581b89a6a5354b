"""What runs below a process, read from /proc."""

import os
import time
from pathlib import Path


def below(pid):
    """Numbers of all descendants of a process."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(entry.parent.name)] = int(fields[1])
    found, todo = [], [pid]
    while todo:
        parent = todo.pop()
        children = [child for child, of in parents.items() if of == parent]
        found += children
        todo += children
    return found


def state(pid):
    """The letter of its state; Z also when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def alive(pid):
    return state(pid) != "Z"


def end_of(pids, seconds=5.0):
    """Those of the processes that still run after a while."""
    until = time.monotonic() + seconds
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < until:
        time.sleep(0.01)
    return left


def open_files():
    return len(os.listdir("/proc/self/fd"))
