"""Reading results from workers, including dishonest ones."""

import os
import select
import socket
import struct
import time
from contextlib import contextmanager

import pytest

from components.sandbox.api import FrameError, Limits, Ran, pack, pack_ran
from components.sandbox.process import WorkerPipes
from components.sandbox.supervisor import Child
from tests.slow import slow
from tests.table import each_row

TOKEN = "t"
RESULT = pack_ran(Ran("ok", "1"), TOKEN)
LIES = {
    "two results": RESULT + RESULT,
    "a result and more": RESULT + b"x",
    "a part of a result": RESULT[:-1],
    "no frame": b"forged\n" * 10,
    "a frame that claims much": struct.pack(">I", 2**31) + b"x",
    "too much": b"\0" * (2 << 20),
    "the result of another cell": pack_ran(Ran("ok", "1"), "other"),
    "a status that only a supervisor reports": pack_ran(Ran("killed", error=None), TOKEN),
    "another object": pack({"status": "ok"}),
}


@contextmanager
def ends(live, limits=None):
    """The ends of a scripted worker, and the worker."""
    here, there = socket.socketpair()
    child = Child(live, ())
    child.hand_over(there)
    _, descriptors, _, _ = socket.recv_fds(here, 1000, 5)
    held = WorkerPipes(descriptors, limits or Limits())
    yield held, child
    held.close()
    child.close()
    child.ended(wait=True)
    for one in (here, there):
        one.close()


def writer(data, last=True):
    """A worker that answers its cell with these bytes, and ends; with ``last`` it has announced that."""

    def live(cells, results, pledge):
        os.read(cells, 1000)
        if last:
            os.close(pledge)
        left = data
        while left:
            left = left[os.write(results, left) :]
        os._exit(0)

    return live


def received(held):
    """All results until the worker ends."""
    until = time.monotonic() + 5
    while (ran := held.result()) is None and not held.finished and time.monotonic() < until:
        select.select([held], [], [], 0.1)
        held.work()
    return ran


@pytest.mark.parametrize("last", [False, True])
def test_one_result_is_read(last):
    with ends(writer(RESULT, last)) as (held, _):
        held.begin("x", TOKEN)
        assert received(held).answer == "1" and held.stays != last


def test_a_finished_worker_is_trusted_once_it_has_closed_its_pipe():
    def live(cells, results, pledge):
        os.read(cells, 1000)
        os.close(pledge)
        os.write(results, RESULT)
        time.sleep(0.2)
        os.write(results, b"more")
        os._exit(0)

    with ends(live) as (held, _):
        held.begin("x", TOKEN)
        with pytest.raises(FrameError, match="more than one reply"):
            received(held)


@slow
@each_row("last", [False, True])
@each_row("name", LIES)
def test_output_other_than_one_result_of_this_cell_is_refused(name, last):
    with ends(writer(LIES[name], last)) as (held, _):
        held.begin("x", TOKEN)
        with pytest.raises(FrameError):
            while not held.finished:
                received(held)


def test_output_is_cut_and_the_rest_left():
    def live(cells, *_):
        os.read(cells, 1000)
        os.write(1, b"x" * 40960)
        os._exit(0)

    with ends(live, Limits(output_bytes=5000)) as (held, _):
        held.begin("x", TOKEN)
        assert received(held) is None and held.end() == "x" * 5000
        held.begin("x", TOKEN)
        assert held.end() == ""


def test_a_worker_that_sent_unrequested_output_gets_no_cell():
    with ends(lambda _, results, __: (os.write(results, b"x"), time.sleep(9))) as (held, _):
        select.select([held], [], [], 5)
        with pytest.raises(FrameError, match="without a cell"):
            held.begin("x", TOKEN)


def test_a_cell_longer_than_a_pipe_arrives_in_pieces():
    def live(cells, results, _):
        taken = 0
        while taken < 300_000:
            time.sleep(0.001)
            taken += len(os.read(cells, 1 << 16))
        os.write(results, RESULT)
        os._exit(0)

    with ends(live) as (held, _):
        held.begin("x" * 300_000, TOKEN)
        assert received(held).answer == "1"
