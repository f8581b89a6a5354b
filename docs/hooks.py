"""What mkdocs adds to the pages in docs/: the reference, and README.md and CHANGELOG.md of the repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import reference  # noqa: E402

from runner.config.schema import Settings  # noqa: E402

COMMANDS = ("runner.report", "runner.compare", "runner.doctor", "runner.ui", "benchmarks")


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def pages() -> dict[str, str]:
    """Path below docs/ -> text."""
    found = {
        name: repository_page(path) for name, path in (("index.md", "README.md"), ("changelog.md", "CHANGELOG.md"))
    }
    found |= {f"reference/{reference.page_of(group)}": reference.group_page(group, of)
              for group, of in reference.groups().items()}  # fmt: skip
    found["reference/index.md"] = reference.index_page()
    found["reference/config.md"] = reference.config_page(Settings)
    found["reference/commands.md"] = commands_page()
    return found


def repository_page(path: str) -> str:
    """A file of the repository with its links as seen from docs/; those to files outside of docs/ become plain text."""
    text = re.sub(r"\]\(docs/", "](", (ROOT / path).read_text(encoding="utf-8"))
    return re.sub(r"\[([^\]]+)\]\((?:LICENSE|benchmarks/[^)]*|CHANGELOG\.md)\)", r"\1", text)


def commands_page() -> str:
    """The help of each command."""
    lines = [
        "# Commands",
        "",
        "`python -m runner` takes keys and choices, as [the reference](index.md) lists them.",
        "",
    ]
    for name in COMMANDS:
        words = [sys.executable, "-m", name, "--help"]
        help_text = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        lines += [f"## {name}", "", "```text", help_text.rstrip(), "```", ""]
    return "\n".join(lines)
