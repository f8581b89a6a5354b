"""A worker as its supervisor sees it."""

import os
import signal
import socket
import stat
import time

from components.sandbox.child import Child


def close(child):
    child.close()
    child.ended(wait=True)


def test_the_host_gets_the_ends_and_the_supervisor_keeps_what_it_watches():
    here, there = socket.socketpair()
    child = Child(lambda *_: time.sleep(9), ())
    assert len(child.descriptors) == 5
    child.hand(there)
    _, came, _, _ = socket.recv_fds(here, 1000, 8)
    assert [stat.S_ISFIFO(os.fstat(one).st_mode) for one in came] == [True, True, True, False, True]
    assert child.descriptors == (child.output, child.process)
    close(child)
    assert child.descriptors == () and child.signal == signal.SIGKILL
    for one in came:
        os.close(one)
    here.close()
    there.close()


def test_a_worker_has_none_of_the_descriptors_of_others():
    first = Child(lambda *_: time.sleep(9), ())

    def live(*own):
        held = set()
        for one in range(64):
            try:
                os.fstat(one)
                held.add(one)
            except OSError:
                continue
        os._exit(len(held & set(first.descriptors)) + 10 * (not {*own} <= held))

    other = Child(live, first.descriptors)
    assert other.ended(wait=True) and other.signal == 0 and os.waitstatus_to_exitcode(other._status) == 0
    for one in (first, other):
        close(one)


def test_time_that_was_used_is_known_to_the_end():
    def burn(*_):
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass
        os._exit(0)

    child = Child(burn, ())
    assert child.ended(wait=True) and 0.05 <= child.cpu_seconds() < 2
    close(child)
