"""A worker as its supervisor sees it, with workers that lie."""

import os
import select
import struct
import time

import pytest

from components.sandbox.api import Limits, Ran
from components.sandbox.child import Child
from components.sandbox.frames import FrameError, pack, pack_ran

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
    "another object": pack({"status": "ok"}),
}


def started(write, limits=None):
    """A child that writes to its pipe of results and ends."""

    def live(cells, results):
        os.read(cells, 1000)
        write(results)
        os._exit(0)

    return Child(live, limits or Limits(), ())


def ended(child):
    until = time.monotonic() + 5
    while not child.finished and time.monotonic() < until:
        select.select([child.results, child.output], [], [], 1)
        child.drain()
        child.hear(keep=False)
    assert child.ended(wait=True)
    child.drain()
    return child.ran


def close(child):
    child.kill()
    child.ended(wait=True)
    child.close()


def written(data):
    def write(results):
        left = data
        while left:
            left = left[os.write(results, left) :]

    return write


def test_one_result_is_read():
    child = started(written(RESULT))
    assert child.give("x", TOKEN)
    assert ended(child).answer == "1"
    close(child)


@pytest.mark.parametrize("name", LIES)
def test_what_is_not_one_result_is_refused(name):
    child = started(written(LIES[name]))
    assert child.give("x", TOKEN)
    with pytest.raises(FrameError):
        ended(child)
    close(child)


def test_output_is_cut_and_the_rest_dropped():
    child = started(lambda _: [os.write(1, b"x" * 4096) for _ in range(100)], Limits(output_bytes=5000))
    child.give("x", TOKEN)
    assert ended(child) is None and child.printed() == "x" * 5000
    close(child)


def test_a_worker_that_spoke_unasked_gets_no_cell():
    child = started(lambda _: None)
    other = Child(lambda cells, results: (os.write(results, b"x"), time.sleep(9)), Limits(), child.descriptors)
    select.select([other.results], [], [], 5)
    assert not other.give("x", TOKEN)
    for one in (child, other):
        close(one)
    assert other.signal == 9 and child.descriptors == ()


def test_time_that_was_used_is_known_to_the_end():
    def burn(_):
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass

    child = started(burn)
    child.give("x", TOKEN)
    ended(child)
    assert 0.05 <= child.cpu_seconds() < 2
    close(child)
