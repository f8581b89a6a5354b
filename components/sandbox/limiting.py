"""The kernel's limits of one process, set for good."""

import math
import resource

from components.sandbox.api import Limits


def apply(limits: Limits, keep: bool) -> None:
    """Set the limits of this process. CPU and wall time per cell are the supervisor's; where no variables are kept the
    kernel limits CPU time, too, with room for the cells that the process ran before."""
    values = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
    }
    if not keep:
        values[resource.RLIMIT_CPU] = math.ceil(limits.cpu_seconds) + 2
    for what, value in values.items():
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, value))
