"""The host's side of a zygote."""

import pytest

from components.sandbox import Library, Limits, SandboxError
from components.sandbox.warm import Gone, Warm, check, release, shared

LIBRARY = Library("components.sandbox.probe", {})


def test_nothing_can_be_opened_once_it_is_closed():
    warm = Warm("rlimits", LIBRARY.module, ())
    assert warm.alive
    warm.close()
    assert not warm.alive
    with pytest.raises(Gone, match="is gone"):
        warm.open(LIBRARY, Limits(), keep=False)


def test_paths_have_to_be_there(tmp_path):
    with pytest.raises(SandboxError, match="missing is not there"):
        check(Library("m", {}, (tmp_path / "missing",)))
    check(Library("m", {}, (tmp_path,)))


def test_a_zygote_is_shared_and_ends_with_its_last_user():
    one, other = object(), object()
    warm = shared("rlimits", LIBRARY, one)
    assert shared("rlimits", LIBRARY, other) is warm
    release(one)
    assert warm.alive
    release(other)
    assert not warm.alive and shared("rlimits", LIBRARY, one) is not warm
    release(one)
