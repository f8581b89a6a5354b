"""The call filter: its decisions by an interpreter of its instructions, and in the kernel."""

import errno
import struct

from components.sandbox.seccomp import checks, digest, numbers, program
from tests.slow import slow
from tests.table import each_row

ALLOW, KILL, PID = 0x7FFF0000, 0x80000000, 77
CODES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
PERM, NOSYS = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
LONG = 1 << 40
DECIDED = {
    "a file": ("openat", (0, 0, 0o102), ALLOW),
    "a file without a name": ("openat", (0, 0, 0x410002), PERM),
    "fork, vfork, clone": ("clone", (0x11,), PERM),
    "a thread": ("clone", (0x3D0F00,), PERM),
    "clone3": ("clone3", (), NOSYS),
    "kill itself": ("kill", (PID, 9), ALLOW),
    "kill another": ("kill", (1, 9), PERM),
    "kill the group": ("kill", (0, 9), PERM),
    "kill all": ("kill", (2**32 - 1, 9), PERM),
    "signal another's thread": ("tgkill", (1, 1, 9), PERM),
    "read limits": ("prlimit64", (0, 7, 0), ALLOW),
    "set limits": ("prlimit64", (0, 7, 1), PERM),
    "set limits, far address": ("prlimit64", (0, 7, LONG), PERM),
    "a terminal's input": ("ioctl", (0, 0x5412), 0x50000 | errno.ENOTTY),
    "who gets signals": ("fcntl", (3, 8), PERM),
    "a lock": ("fcntl", (3, 6), ALLOW),
    "a name": ("prctl", (15,), ALLOW),
    "death signal": ("prctl", (1,), PERM),
    "a stream pair": ("socketpair", (1, 0x80801), ALLOW),
    "a datagram pair": ("socketpair", (1, 2), PERM),
    "another pair": ("socketpair", (2, 1), PERM),
    "send": ("sendto", (3, 0, 0, 0, 0), ALLOW),
    "send to": ("sendto", (3, 0, 0, 0, LONG), PERM),
}


def decided(rules, number, arguments=(), machine="x86_64"):
    """What the filter says; the instructions that it uses."""
    data = struct.pack("<iIQ6Q", number, CODES[machine], 0, *(*arguments, *[0] * 6)[:6])
    code = list(struct.iter_unpack("=HBBI", rules))
    at = value = 0
    while True:
        kind, yes, no, k = code[at]
        at += 1
        if kind == 0x20:
            (value,) = struct.unpack_from("<I", data, k)
        elif kind == 0x54:
            value &= k
        elif kind == 0x06:
            return k
        else:
            at += yes if (value == k if kind == 0x15 else value >= k) else no


@each_row("machine", CODES)
@each_row("name", DECIDED)
def test_calls_are_decided_by_their_arguments(machine, name):
    call, arguments, expected = DECIDED[name]
    assert decided(program(PID, machine), numbers(machine)[call], arguments, machine) == expected


@each_row("machine", CODES)
def test_the_list_is_allowed_and_nothing_else(machine):
    rules = program(PID, machine)
    checked = {number for name, number in numbers(machine).items() if name in checks(PID)}
    allowed = set(numbers(machine).values()) - checked
    for number in range(600):
        if number not in checked:
            expected = ALLOW if number in allowed else NOSYS if number >= 403 else PERM
            assert decided(rules, number, machine=machine) == expected, number
    assert decided(rules, 0x40000000, machine=machine) == PERM
    assert decided(rules, 0, machine="aarch64" if machine == "x86_64" else "x86_64") == KILL


def test_numbers_of_dangerous_calls_are_not_in_the_list():
    # x86_64: socket connect bind accept fork vfork execve ptrace mount chmod fchmod chown bpf memfd io_uring keyctl ...
    refused = "41 42 49 43 57 58 59 101 165 90 91 92 321 319 425 250 323 310 311 155 272 308 200 132"
    assert not set(map(int, refused.split())) & set(numbers("x86_64").values())


@each_row("machine", CODES)
def test_no_number_is_duplicated(machine):
    found = numbers(machine).values()
    assert (
        len(found) == len(set(found)) > 100 and numbers("x86_64")["openat"] == 257 and "open" not in numbers("aarch64")
    )


def test_the_digest_is_of_the_rules_only():
    assert digest() == digest() and len(digest()) == 16


REFUSED = {
    "fork": "os.fork()",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "exec": "os.execv('/bin/true', ['true'])",
    "shell": "answer = os.system('true')\nassert answer == 0",
    "thread": "threading.Thread(target=print).start()",
    "socket": "socket.socket()",
    "datagram pair": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "file without a name": "os.open('.', os.O_TMPFILE | os.O_RDWR)",
    "memory file": "os.memfd_create('m')",
    "mode": "open('f', 'w').close()\nos.chmod('f', 0o600)",
    "times": "open('f', 'w').close()\nos.utime('f')",
    "limit": "resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))",
    "signal": "os.kill(1, 0)",
    "priority": "os.nice(1)",
    "session": "os.setsid()",
    "pidfd": "os.pidfd_open(1)",
}
WORKS = {
    "event loop": "import asyncio\nanswer = asyncio.run(asyncio.sleep(0, 'ok'))",
    "temporary file": "import tempfile\nwith tempfile.TemporaryFile() as f: f.write(b'x')\nanswer = 'ok'",
    "database": "c = sqlite3.connect('d')\nc.execute('create table t(a)')\nc.commit()\nanswer = 'ok'",
    "time zones": "import zoneinfo\nzoneinfo.ZoneInfo('Europe/Berlin')\nanswer = 'ok'",
    "native code": "import ctypes\nanswer = 'ok' if ctypes.CDLL(None).getpid() == os.getpid() else 'no'",
    "a group of a table": "answer = pandas.DataFrame({'a': [1, 1]}).groupby('a').size().map({2: 'ok'}).iloc[0]",
    "arrow's own threads": "import pyarrow\npyarrow.table({'a': [1], 'b': [2]}).to_pandas()\n"
    "answer = 'ok' if pyarrow.table({'a': [1], 'b': [2]}).group_by('a').aggregate([('b', 'sum')]).num_rows else ''",
}
IMPORTS = "import os, resource, socket, sqlite3, threading\n"


@each_row("name", REFUSED)
async def test_the_kernel_refuses(bare, name):
    ran = await bare.run(IMPORTS + REFUSED[name])
    assert ran.status == "error" and ran.error.line_no > 1


@slow
@each_row("name", WORKS)
async def test_calls_that_cells_need_work(session, name):
    ran = await session.run(IMPORTS + WORKS[name])
    assert ran.answer == "ok", ran.error
