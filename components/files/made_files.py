"""Shipped files that a script makes from hand-written tables: write them, or see that they are what it makes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


def keep(home: Path, texts: Mapping[str, str], what: str, arguments: Sequence[str] | None) -> int:
    """Write texts by their paths below a folder, or with ``--check`` compare only; return the exit code."""
    parser = argparse.ArgumentParser(description=f"Build or check {what}.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on a difference")
    check = parser.parse_args(arguments).check
    stale = []
    for name, text in texts.items():
        path = home / name
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        sys.stderr.write(f"not what the tables give: {', '.join(stale)}; run without --check\n")
    return 1 if stale else 0
