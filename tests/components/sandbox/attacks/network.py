"""Cells reach nothing by any kind of socket, and make nothing that talks to the kernel around the limits (attack 5)."""

from textwrap import indent
from typing import Literal

from tests.components.sandbox.attacks.attack import BARRED, Attack, Table

UNREACHED = f"{BARRED}|OSError|Address family not supported"
CONNECTIONS = {
    "TCP on loopback": "import socket; answer = socket.create_connection(('127.0.0.1', TCP), 1).recv(99)",
    "TCP on loopback by IPv6": "import socket; answer = socket.create_connection(('::ffff:127.0.0.1', TCP), 1).recv(99)",
    "TCP with data in the first packet": "import socket\ns = socket.socket(); s.sendto(b'x', 0x20000000, ('127.0.0.1', TCP)); answer = s.recv(99)",
    "UDP on loopback": "import socket\ns = socket.socket(type=socket.SOCK_DGRAM); s.settimeout(1)\ns.sendto(b'x', ('127.0.0.1', UDP)); answer = s.recv(99)",
    "an abstract socket": "import socket\ns = socket.socket(socket.AF_UNIX); s.connect(ABSTRACT); answer = s.recv(99)",
    "an abstract datagram": "import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(''); s.settimeout(1)\ns.sendto(b'x', ABSTRACT_DATAGRAM); answer = s.recv(99)",
    "a datagram from half a pair": "import socket\ns = socket.socketpair(type=socket.SOCK_DGRAM)[0]; s.sendto(b'x', ABSTRACT_DATAGRAM); answer = 'sent'",
    "a socket with a path": "import socket\ns = socket.socket(socket.AF_UNIX); s.connect(UNIX); answer = s.recv(99)",
    "a socket with a path in its data": "import socket\ns = socket.socket(socket.AF_UNIX); s.connect(UNIX_READABLE); answer = s.recv(99)",
    "asyncio": "import asyncio\nasync def f(): return await (await asyncio.open_connection('127.0.0.1', TCP))[0].read(99)\nanswer = asyncio.run(f())",
    "a web page": "import http.client, urllib.request, urllib.error\ntry: urllib.request.urlopen(f'http://127.0.0.1:{TCP}', timeout=1)\nexcept (ConnectionResetError, http.client.HTTPException): pass\nexcept urllib.error.URLError as error: raise error.reason\nanswer = 1",
    "a socket of the C library": "import ctypes, struct\nlibc = ctypes.CDLL(None, use_errno=True); s = libc.socket(2, 1, 0)\nassert s >= 0 and not libc.connect(s, struct.pack('<H', 2) + struct.pack('>H', TCP) + bytes([127, 0, 0, 1]) + bytes(8), 16)\nanswer = 1",
}
OUTSIDE = {
    "a private address": "import socket; answer = socket.create_connection(('10.0.0.1', 80), 2)",
    "the address of a cloud's metadata": "import socket; answer = socket.create_connection(('169.254.169.254', 80), 2)",
    "a name": "import socket; answer = socket.getaddrinfo('metadata.example.org', 80)",
    "a name asked of a server": "import socket\ns = socket.socket(type=socket.SOCK_DGRAM); s.sendto(b'x', ('192.0.2.1', 53)); answer = 1",
}
SOCKETS = {
    "a listening socket": "import socket; socket.create_server(('127.0.0.1', 0))",
    "a listening socket with a path": "import socket; s = socket.socket(socket.AF_UNIX); s.bind('mine'); s.listen()",
    "a socket of IPv6": "import socket; socket.socket(socket.AF_INET6)",
    "a socket of virtual machines": "import socket; socket.socket(40)",
    "a socket of the kernel's routes": "import socket; socket.socket(16, socket.SOCK_RAW, 0)",
    "a socket of the kernel's audit": "import socket; socket.socket(16, socket.SOCK_RAW, 9)",
    "a socket of raw packets": "import socket; socket.socket(17, socket.SOCK_RAW, 768)",
    "a raw socket": "import socket; socket.socket(2, socket.SOCK_RAW, 1)",
    "a socket of the kernel's ciphers": "import socket; socket.socket(38, socket.SOCK_SEQPACKET, 0)",
    "a socket by the other table of numbers": "syscall('socket', 2, 1, 0, plus=X32)",
}
_PAGE = "import ctypes; page = ctypes.create_string_buffer(4096)\n"
CALLS: dict[
    str, tuple[str, Literal["anyone", "root", ""]]
] = {  # name: the call, who gets another answer in plain Python
    "io_uring": (_PAGE + "syscall('io_uring_setup', 8, page)", "anyone"),
    "keys of the kernel": ("syscall('keyctl', 0, -3, 1)", "anyone"),
    "a new key": ("syscall('add_key', b'user', b'mine', b'x', 1, -2)", "anyone"),
    "faults of memory handled by itself": ("syscall('userfaultfd', 1)", "anyone"),
    "programs in the kernel": (_PAGE + "syscall('bpf', 0, page, 128)", "root"),
    "counters of performance": (
        _PAGE + "page[4:8] = b'\\x80\\0\\0\\0'\nsyscall('perf_event_open', page, 0, -1, -1, 0)",
        "",
    ),
    "a file without a place": ("syscall('memfd_create', b'x', 0)", "anyone"),
    "a secret file without a place": ("syscall('memfd_secret', 0)", ""),
    "a segment of shared memory": ("syscall('shmget', 0, 4096, 0o600)", "anyone"),
    "a queue of messages": ("syscall('msgget', 0, 0o600)", "anyone"),
    "a set of semaphores": ("syscall('semget', 0, 1, 0o600)", "anyone"),
    "a named queue of messages": ("syscall('mq_open', b'mine', 0o102, 0o600, 0)", ""),
    "a mount": ("syscall('mount', b'none', b'/nowhere', b'tmpfs', 0, 0)", "root"),
    "the new calls for a mount": ("syscall('fsopen', b'tmpfs', 0)", "root"),
    "a copy of a tree of files": ("syscall('open_tree', -100, b'/', 1)", "root"),
    "another root": ("syscall('pivot_root', b'.', b'.')", "root"),
    "other namespaces": ("syscall('unshare', 0x40000000)", "root"),
    "another user's namespace": ("syscall('unshare', 0x10000000)", "anyone"),
    "the namespaces of another": ("syscall('setns', 0, 0)", "anyone"),
    "the state of files of the kernel": ("syscall('fanotify_init', 0, 0)", ""),
    "a module of the kernel": ("syscall('init_module', b'', 0, b'')", ""),
    "another kernel": ("syscall('kexec_load', 0, 0, 0, 0)", ""),
    "a restart": ("syscall('reboot', 0, 0, 0, 0)", "root"),
    "swap": ("syscall('swapon', b'/nowhere', 0)", "root"),
    "the clock": (_PAGE + "page[0:9] = b'\\xff' * 9\nsyscall('clock_settime', 0, page)", "root"),
    "the name of the machine": ("syscall('sethostname', 0, 9999)", "root"),
    "the log of the kernel": ("syscall('syslog', 3, 0, -1)", "root"),
    "ports": ("syscall('ioperm', 0, 0, 1)", ""),
    "accounts of processes": ("syscall('acct', b'/nowhere')", "root"),
    "comparing processes": ("import os; syscall('kcmp', os.getpid(), HOST, 0, 0, 0)", "root"),
    "moving another's memory": ("syscall('migrate_pages', HOST, 8, 0, 0)", ""),
    "advice on another's memory": (
        "import os; syscall('process_madvise', syscall('pidfd_open', HOST, 0), 0, 0, 20, 0)",
        "",
    ),
}


REACHED = {name: Attack(cell, "error|killed", f"{UNREACHED}|AssertionError") for name, cell in CONNECTIONS.items()}
FAR = {name: Attack(cell, "error", f"{UNREACHED}|gaierror", "") for name, cell in OUTSIDE.items()}
MADE = {name: Attack(f"{cell}\nanswer = 'made'", "error", UNREACHED, "") for name, cell in SOCKETS.items()}
_BARRED_CALL = """
try:
{call}
except OSError as error:  # every other complaint comes from a kernel that listens
    if error.errno in (errno.EPERM, errno.ENOSYS): raise
answer = 'made'
"""
CALLED = {
    name: Attack("import errno" + _BARRED_CALL.format(call=indent(cell, "    ")), "error|killed", BARRED, bare)
    for name, (cell, bare) in CALLS.items()
}


TABLES = {
    "no cell reaches a server": Table(REACHED, brief=None, tried=True),
    "no cell reaches another machine": Table(FAR, brief=None),
    "no cell makes a socket": Table(MADE, brief=None),
    "no cell makes what goes around the limits in the kernel": Table(CALLED, brief=None, tried=True),
}
