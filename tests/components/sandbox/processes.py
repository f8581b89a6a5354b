"""What runs below a process, read from /proc."""

import os
import time
from pathlib import Path


def below(pid):
    """Numbers of all descendants of a process but those that wait for an episode."""
    return [one for one, waits in _below(pid) if not waits]


def everything_below(pid):
    """Numbers of all descendants of a process."""
    return [one for one, _ in _below(pid)]


def _below(pid):
    parents, names = {}, {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, fields = entry.read_text().rpartition(")")
        except (FileNotFoundError, ProcessLookupError):
            continue
        number = int(entry.parent.name)
        parents[number], names[number] = int(fields.split()[1]), head.partition("(")[2]
    found, todo = [], [pid]
    while todo:
        parent = todo.pop()
        children = [child for child, of in parents.items() if of == parent]
        found += [(child, _waits(names[child], names.get(parent))) for child in children]
        todo += children
    return found


def _waits(name, parent):
    """Whether a process of that name waits for an episode, or was forked to do so just now."""
    return name == "cells-waiting" or name == parent == "cells"


def name(pid):
    """The name under which it is listed."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def state(pid):
    """The letter of its state; Z also when the process no longer exists."""
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
