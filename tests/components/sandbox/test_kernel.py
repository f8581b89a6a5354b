"""Linux calls through ctypes."""

import errno
import os

import pytest

from components.sandbox import kernel
from tests.components.sandbox.alone import run


def test_a_failed_call_says_which_and_why():
    with pytest.raises(OSError, match="mount on /no/such") as caught:
        kernel.mount("tmpfs", "/no/such", "tmpfs", 0)
    assert caught.value.errno in (errno.ENOENT, errno.EPERM)
    with pytest.raises(OSError, match="syscall 9999"):
        kernel.syscall(9999)
    assert kernel.syscall({"x86_64": 39, "aarch64": 172}[os.uname().machine]) == os.getpid()


def test_rights_are_given_up_for_good():
    told = run(
        "from components.sandbox import kernel\nkernel.no_new_privileges()\nkernel.drop_capabilities()\n"
        "print(open('/proc/self/status').read())"
    )
    fields = dict(line.split(":\t", 1) for line in told.splitlines() if ":\t" in line)
    assert fields["NoNewPrivs"] == "1"
    assert {fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
