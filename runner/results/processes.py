"""The work on several run folders shared among processes, where they are worth their start."""

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

from runner.storage.records import FILE as RECORDS

T = TypeVar("T")
_LARGE = 1 << 26  # bytes of records


def map_folders(function: Callable[[Path], T], folders: Sequence[Path]) -> Iterator[T]:
    """What a function finds in each folder; large ones, where processes are worth their start, are shared among as many
    as there are processors."""
    if len(folders) < 2 or not are_large(folders):
        yield from map(function, folders)
        return
    gc.set_threshold(200_000, 20, 100)  # what is read is many objects, and stays
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that multiply matrices wait for each other in busy loops

    import scipy.special  # noqa: F401 - which intervals need: once for all processes, with one thread

    with ProcessPoolExecutor(min(len(folders), os.cpu_count() or 1)) as pool:
        yield from pool.map(function, folders)


def are_large(folders: Sequence[Path]) -> bool:
    """Whether several processes are worth their start for the records of these folders, and there are processors."""
    sizes = ((folder / RECORDS).stat().st_size for folder in folders if (folder / RECORDS).exists())
    return (os.cpu_count() or 1) > 1 and sum(sizes) >= _LARGE
