"""The process from which episodes are forked, and how the host starts it."""

import asyncio
import os
import signal

import pytest

from components.sandbox import Library, Limits, Sandbox, SandboxError, flaw
from components.sandbox.process import Gone, ZygoteProcess, close_all, shared
from tests.components.sandbox.processes import below, end_of, everything_below, name
from tests.slow import slow

LIBRARY = Library("components.sandbox.probe", {})


@slow
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


async def test_a_closed_episode_leaves_no_process(held):
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


@slow
async def test_the_waiting_process_takes_the_next_episode_and_another_replaces_it(held):
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
    """The one process that waits; the process that made its namespaces, and has its name, ends soon."""
    while len(found := [pid for pid in everything_below(zygote) if name(pid) == "cells-waiting"]) != 1:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    return [pid for pid in everything_below(zygote) if name(pid) == "cells-waiting"] or found


def test_nothing_can_be_opened_once_it_is_closed():
    warm = ZygoteProcess("rlimits", LIBRARY.module)
    assert warm.alive
    warm.close()
    assert not warm.alive
    with pytest.raises(Gone, match="is gone"):
        warm.open(LIBRARY, Limits(), keep=False)


@slow
async def test_sandboxes_of_one_process_share_a_zygote_that_outlives_them():
    found = set()
    for wall in (5.0, 6.0):
        made = Sandbox(limits=Limits(wall_seconds=wall))
        opened = made.open(LIBRARY)
        assert (await opened.run("answer = 1")).answer == "1"
        found.add(shared(made.report()["tier"], LIBRARY, made.limits))
        made.close()
    (warm,) = found
    assert warm.alive
    close_all()
    assert not warm.alive


@slow
@pytest.mark.parametrize(("tier", "alike"), [("rlimits", True), ("bwrap", False)])
def test_only_a_tier_whose_folders_are_made_with_it_has_a_zygote_for_each_size(tier, alike):
    if tier == "bwrap" and (reason := flaw(tier)):
        pytest.skip(reason)
    small, large = (shared(tier, LIBRARY, Limits(scratch_bytes=size)) for size in (1 << 20, 2 << 20))
    assert (small is large) is alike and small is shared(tier, LIBRARY, Limits(scratch_bytes=1 << 20))
    close_all()


async def test_a_failing_library_is_reported_as_a_failure_of_the_machine(held):
    opened = held.open(Library("components.sandbox.probe", {"no_such": 1}))
    with pytest.raises(SandboxError, match=r"cannot be set up: TypeError: .*unexpected keyword argument 'no_such'"):
        await opened.run("answer = 1")
    opened.close()
