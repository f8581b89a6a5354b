"""The process from which episodes are forked."""

import asyncio
import os
import signal

from components.sandbox import Library, Sandbox
from components.sandbox.warm import shared
from tests.components.sandbox.processes import below, end_of, everything_below, name

LIBRARY = Library("components.sandbox.probe", {})


async def test_it_ends_with_all_episodes_and_a_new_one_takes_its_place():
    made = Sandbox()
    sessions = [made.open(LIBRARY) for _ in range(3)]
    for one in sessions:
        await one.run("answer = 1")
    zygote = shared(made.report()["tier"], LIBRARY, made.limits)._process.pid
    started = below(zygote)
    assert len(started) >= 3
    os.kill(zygote, signal.SIGKILL)
    assert (await sessions[0].run("answer = 2")).answer == "2" or (await sessions[0].run("answer = 2")).answer == "2"
    for one in sessions:
        one.close()
    assert end_of(started) == []
    made.close()


async def test_an_episode_that_is_closed_is_gone(held):
    opened = held.open(LIBRARY)
    await opened.run("answer = 1")
    await asyncio.sleep(0.1)  # until its next worker is there
    before = set(below(os.getpid()))
    other = held.open(LIBRARY)
    await other.run("answer = 1")
    added = set(below(os.getpid())) - before
    assert added
    other.close()
    assert end_of(added, 0.0) == []
    opened.close()


async def test_the_process_that_waits_takes_the_next_episode_and_another_its_place(held):
    opened = held.open(LIBRARY)
    await opened.run("answer = 1")
    zygote = shared(held.report()["tier"], LIBRARY, held.limits)._process.pid
    (first,) = await _waiting(zygote)
    other = held.open(LIBRARY)
    await other.run("answer = 1")
    assert name(first) == "cells-episode"
    (second,) = await _waiting(zygote)
    os.kill(second, signal.SIGKILL)
    assert end_of([second]) == []
    # whatever ends it, the next episode has one of its own
    third = held.open(LIBRARY)
    assert (await third.run("answer = 3")).answer == "3"
    for one in (opened, other, third):
        one.close()


async def _waiting(zygote):
    """The one process that waits; who made its namespaces, and has its name, is gone soon."""
    while len(found := [pid for pid in everything_below(zygote) if name(pid) == "cells-waiting"]) != 1:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    return [pid for pid in everything_below(zygote) if name(pid) == "cells-waiting"] or found
