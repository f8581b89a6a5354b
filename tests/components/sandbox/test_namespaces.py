"""What a cell of the first tier finds around it, and the command of the second."""

import json
import sys
from pathlib import Path

import pytest

from components.sandbox import Library, Sandbox, flaw, namespaces, paths

LOOK = """
import json, os
answer = json.dumps({
    "root": sorted(os.listdir("/")), "pid": os.getppid(), "uid": os.getuid(), "dev": sorted(os.listdir("/dev")),
    "scratch": os.statvfs("/scratch").f_blocks * os.statvfs("/scratch").f_frsize,
    "readonly": bool(os.statvfs("/").f_flag & os.ST_RDONLY),
})
"""


async def test_the_root_holds_little_and_nothing_of_others():
    if reason := flaw("namespaces"):
        pytest.skip(reason)
    made = Sandbox(backend="namespaces")
    opened = made.open(Library("components.sandbox.probe", {}))
    found = json.loads((await opened.run(LOOK)).answer)
    own = Path(sys.prefix).resolve().parts[1]  # where the interpreter is
    assert {"etc", "proc", "sys", "home", "tmp", "var", "run"} & set(found["root"]) <= {own}
    assert found["pid"] == 1 and found["uid"] == 65534 and found["readonly"]
    assert found["dev"] == ["null", "random", "urandom", "zero"] and found["scratch"] == 64 << 20
    made.close()


def test_only_the_interpreter_the_library_and_its_files_are_bound():
    line = namespaces.bwrap_command(["/data/file.db"], "tests.components.sandbox.library", {"TZ": "UTC0"}, 4096)
    bound = [line[at + 1] for at, word in enumerate(line) if word == "--ro-bind"]
    root = str(paths.PROJECT)
    assert {"/data/file.db", f"{root}/components", f"{root}/tests"} <= set(bound)
    assert not {root, f"{root}/conf", f"{root}/runner", "/", "/etc", "/home", "/proc"} & set(bound)
    assert line[0].endswith("bwrap") and "--unshare-all" in line and "--bind" not in line


def test_each_episode_has_the_given_environment_and_a_file_system_of_its_size():
    line = namespaces.bwrap_command([], "m", {"TZ": "UTC0"}, 4096)
    assert line[line.index("--setenv") :][:3] == ["--setenv", "TZ", "UTC0"] and "--clearenv" in line
    mounts = [line[at - 2 : at + 2] for at, word in enumerate(line) if word == "--tmpfs"]
    assert mounts == [["--size", "4096", "--tmpfs", slot] for slot in paths.BWRAP_SLOTS]
