"""The host's side of a zygote."""

import pytest

from components.sandbox import Library, Limits, Sandbox, SandboxError, detect
from components.sandbox.warm import Gone, Warm, check, close_all, shared

LIBRARY = Library("components.sandbox.probe", {})


def test_nothing_can_be_opened_once_it_is_closed():
    warm = Warm("rlimits", LIBRARY.module)
    assert warm.alive
    warm.close()
    assert not warm.alive
    with pytest.raises(Gone, match="is gone"):
        warm.open(LIBRARY, Limits(), keep=False)


def test_paths_have_to_be_there(tmp_path):
    with pytest.raises(SandboxError, match="missing is not there"):
        check(Library("m", {}, (tmp_path / "missing",)))
    check(Library("m", {}, (tmp_path,)))


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


@pytest.mark.parametrize(("tier", "alike"), [("rlimits", True), ("bwrap", False)])
def test_only_a_tier_whose_folders_are_made_with_it_has_a_zygote_for_each_size(tier, alike):
    if tier == "bwrap" and (reason := detect.tested(tier).reason):
        pytest.skip(reason)
    small, large = (shared(tier, LIBRARY, Limits(scratch_bytes=size)) for size in (1 << 20, 2 << 20))
    assert (small is large) is alike and small is shared(tier, LIBRARY, Limits(scratch_bytes=1 << 20))
    close_all()
