"""The table of calls."""

import pytest

from components.sandbox.syscalls import ALLOWED, CHECKED, numbers


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_number_stands_twice(machine):
    found = [*numbers(ALLOWED, machine).values(), *numbers(CHECKED, machine).values()]
    assert len(found) == len(set(found)) > 90


def test_known_numbers():
    assert numbers(CHECKED, "x86_64")["openat"] == 257 and numbers(CHECKED, "aarch64")["openat"] == 56
    assert "open" not in numbers(ALLOWED, "aarch64")
