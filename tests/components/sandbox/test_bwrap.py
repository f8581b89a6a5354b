"""The command that starts a zygote in bubblewrap."""

import shutil

import pytest

from components.sandbox import bwrap, places

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap is not installed")


def test_only_the_interpreter_the_library_and_its_files_are_bound():
    line = bwrap.command(["/data/file.db"], "tests.components.sandbox.library", {"TZ": "UTC0"}, 4096)
    bound = [line[at + 1] for at, word in enumerate(line) if word == "--ro-bind"]
    root = str(places.project())
    assert {"/data/file.db", f"{root}/components", f"{root}/tests"} <= set(bound)
    assert not {root, f"{root}/conf", f"{root}/runner", "/", "/etc", "/home", "/proc"} & set(bound)
    assert line[0].endswith("bwrap") and "--unshare-all" in line and "--bind" not in line


def test_the_environment_is_the_one_given_and_every_episode_has_a_file_system_of_its_size():
    line = bwrap.command([], "m", {"TZ": "UTC0"}, 4096)
    assert line[line.index("--setenv") :][:3] == ["--setenv", "TZ", "UTC0"] and "--clearenv" in line
    mounts = [line[at - 2 : at + 2] for at, word in enumerate(line) if word == "--tmpfs"]
    assert mounts == [["--size", "4096", "--tmpfs", slot] for slot in bwrap.slots()]
