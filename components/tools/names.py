"""How names and queries that a model wrote are compared."""

from __future__ import annotations


def plain(name: str) -> str:
    """A name as it is compared: in one case, single spaces."""
    return " ".join(name.casefold().split())
