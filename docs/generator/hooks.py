"""The mkdocs hook that adds the generated pages to those in docs/."""

from __future__ import annotations

import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    sys.path[:0] = [str(ROOT), str(ROOT / "docs")]  # here, as mkdocs puts the path back after it has loaded a hook
    from generator.pages import pages

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files
