"""The tables of choices in README.md, made from the first comment of every YAML in conf/.

``python docs/tables.py`` writes them; ``--check`` exits 1 when they are not current.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GROUPS = (
    "model", "agent", "verifier", "memory", "stage", "toolset", "condition", "dataset", "scorer", "profile",
    "tracking", "experiment",
)  # fmt: skip
BEGIN, END = "<!-- tables: made by docs/tables.py -->", "<!-- end of tables -->"


def first_comment(path: Path) -> str:
    """The first comment of a YAML that is not a package directive."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and not line.startswith("# @"):
            return line[2:].strip().rstrip(",:").replace("|", "\\|")
    raise SystemExit(f"{path}: its first line must be a comment that says what it is")


def tables() -> str:
    """One Markdown table per group."""
    parts = []
    for group in GROUPS:
        folder = ROOT / "conf" / group
        rows = [
            f"| `{path.relative_to(folder).with_suffix('').as_posix()}` | {first_comment(path)} |"
            for path in sorted(folder.rglob("*.yaml"))
        ]
        parts.append("\n".join([f"| `{group}=` | |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def main() -> int:
    """Write or check."""
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    fresh = f"{head}{BEGIN}\n\n{tables()}\n\n{END}{tail}"
    if "--check" in sys.argv[1:]:
        return 0 if fresh == text else 1
    readme.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
