"""The kernel's limits of one process, set for good."""

from __future__ import annotations

import math
import resource

from components.sandbox.api import Limits


def apply(limits: Limits, keep: bool) -> None:
    """Set the limits of this process. With ``keep`` the CPU limit is the supervisor's: it counts per cell."""
    wanted = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
    }
    if not keep:
        wanted[resource.RLIMIT_CPU] = math.ceil(limits.cpu_seconds) + 1  # what the supervisor's own clock misses
    for what, value in wanted.items():
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, value))
