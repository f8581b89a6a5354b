"""Linux calls through ctypes, and Landlock: what may be read, what may be written, and nothing else."""

import errno
import json
import os

import pytest

from components.sandbox import kernel
from tests.components.sandbox.alone import run


def test_a_failed_call_says_which_and_why():
    with pytest.raises(OSError, match=r"mount.*/no/such") as caught:
        kernel.mount("tmpfs", "/no/such", "tmpfs", 0, None)
    assert caught.value.errno in (errno.ENOENT, errno.EPERM)
    with pytest.raises(OSError, match=r"syscall.*9999"):
        kernel.syscall(9999)
    assert kernel.syscall({"x86_64": 39, "aarch64": 172}[os.uname().machine]) == os.getpid()


def test_rights_are_given_up_for_good():
    output = run(
        "from components.sandbox import kernel\nkernel.prctl(kernel.NO_NEW_PRIVILEGES, 1, 0, 0, 0)\nkernel.drop_capabilities()\n"
        "print(open('/proc/self/status').read())"
    )
    fields = dict(line.split(":\t", 1) for line in output.splitlines() if ":\t" in line)
    assert fields["NoNewPrivs"] == "1"
    assert {fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}


LANDLOCK = pytest.mark.skipif(
    kernel.landlock_version() < kernel.LEAST_LANDLOCK, reason="the kernel's Landlock is too old"
)

CODE = """
import json, os, sys
from components.sandbox import kernel
folder = sys.argv[1]
kernel.prctl(kernel.NO_NEW_PRIVILEGES, 1, 0, 0, 0)
kernel.restrict_paths([folder + "/read", folder + "/file", folder + "/none"], [folder + "/write", "/dev/null"])
def tried(act):
    try:
        act()
    except OSError as error:
        return type(error).__name__
    return "works"
f = folder
print(json.dumps({
    "read": tried(lambda: open(f + "/read/a").read()), "file": tried(lambda: open(f + "/file").read()),
    "list": tried(lambda: os.listdir(f + "/read")), "null": tried(lambda: open("/dev/null", "w").write("x")),
    "write": tried(lambda: open(f + "/write/a", "w").write("x")), "folder": tried(lambda: os.makedirs(f + "/write/b/c")),
    "rename": tried(lambda: os.rename(f + "/write/a", f + "/write/b/a")), "link": tried(lambda: os.symlink("a", f + "/write/l")),
    "x read other": tried(lambda: open(f + "/other").read()), "x list": tried(lambda: os.listdir(f)),
    "x write read": tried(lambda: open(f + "/read/a", "w")), "x new": tried(lambda: open(f + "/read/n", "w")),
    "x unlink": tried(lambda: os.unlink(f + "/read/a")), "x truncate": tried(lambda: os.truncate(f + "/read/a", 0)),
    "x out": tried(lambda: os.rename(f + "/write/b/a", f + "/a")), "x in": tried(lambda: os.link(f + "/other", f + "/write/o")),
    "x nameless": (kernel.keep_names(), tried(lambda: os.unlink(f + "/write/l")))[1],
    "x replaced": tried(lambda: os.rename(f + "/write/b/a", f + "/write/l")), "still": tried(lambda: open(f + "/write/new", "w").write("x")),
    "x fifo": tried(lambda: os.mkfifo(f + "/write/p")), "x proc": tried(lambda: open("/proc/self/environ")),
}))
"""


@LANDLOCK
def test_paths_are_restricted(tmp_path):
    for name in ("read", "write"):
        (tmp_path / name).mkdir()
    for name in ("read/a", "file", "other"):
        (tmp_path / name).write_text("x")
    found = json.loads(run(CODE, str(tmp_path)))
    assert {name: result for name, result in found.items() if (result == "works") == name.startswith("x ")} == {}
    assert (tmp_path / "read/a").read_text() == "x"
