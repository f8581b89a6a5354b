"""Versions of installed packages, from the names of their folders.

``importlib.metadata`` parses the description of each: 30 ms of a run's start for those that a manifest names.
"""

import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path


def version_of(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    return _versions().get(_normal(package))


@lru_cache(maxsize=1)
def _versions() -> Mapping[str, str]:
    """Name -> version, of several the one that Python finds first."""
    found: dict[str, str] = {}
    for folder in (one for place in sys.path for one in Path(place).glob("*.dist-info")):
        name, _, version = folder.name.removesuffix(".dist-info").rpartition("-")
        found.setdefault(_normal(name), version)
    return found


def _normal(name: str) -> str:
    """A name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
