"""Raw system calls by name, past every function of Python's."""

import ctypes
import os
import platform
from typing import Any

_NUMBERS = {  # x86_64, aarch64 (None: not there)
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "capset": (126, 91), "chroot": (161, 51),
    "clock_adjtime": (305, 266), "clock_settime": (227, 112), "clone": (56, 220), "clone3": (435, 435),
    "delete_module": (176, 106), "execveat": (322, 281), "fanotify_init": (300, 262), "fchmodat": (268, 53),
    "fchmodat2": (452, 452), "finit_module": (313, 273), "fork": (57, None), "fsopen": (430, 430),
    "init_module": (175, 105), "io_setup": (206, 0), "io_uring_setup": (425, 425), "ioperm": (173, None),
    "iopl": (172, None), "kcmp": (312, 272), "kexec_load": (246, 104), "keyctl": (250, 219), "kill": (62, 129),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "migrate_pages": (256, 238), "mount": (165, 40),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "move_pages": (279, 239), "mq_open": (240, 180),
    "msgget": (68, 186), "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pivot_root": (155, 41), "prctl": (157, 167),
    "prlimit64": (302, 261), "process_madvise": (440, 440), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60), "reboot": (169, 142),
    "request_key": (249, 218), "rt_sigqueueinfo": (129, 138), "sched_setaffinity": (203, 122), "semget": (64, 190),
    "setdomainname": (171, 162), "sethostname": (170, 161), "setns": (308, 268), "setpriority": (141, 140),
    "settimeofday": (164, 170), "shmat": (30, 196), "shmdt": (67, 197), "shmget": (29, 194), "socket": (41, 198),
    "socketcall": (None, None), "swapon": (167, 224), "syslog": (103, 116), "tgkill": (234, 131), "umount2": (166, 39),
    "unshare": (272, 97), "userfaultfd": (323, 282), "vfork": (58, None), "vhangup": (153, 58),
}  # fmt: skip
_COLUMN = 1 if platform.machine() == "aarch64" else 0
_LIBC = ctypes.CDLL(None, use_errno=True)
X32 = 0x40000000  # the other table of numbers of x86_64, which a filter must not overlook


def syscall(name: str, *arguments: Any, plus: int = 0) -> int:
    """Its result. Raises OSError with the kernel's reason; a call that this machine lacks is not implemented."""
    number = _NUMBERS[name][_COLUMN]
    if number is None:
        raise OSError(38, "Function not implemented")
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    ctypes.set_errno(0)
    result = int(_LIBC.syscall(ctypes.c_long(number + plus), *words))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
