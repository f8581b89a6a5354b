"""A package with the interface of sentence-transformers, small enough for tests: it counts letters."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_TEXT = """
import numpy as np

class SentenceTransformer:
    def __init__(self, name, device=None):
        if name == "none/here":
            raise OSError("none/here is not a local folder\\nand is not on the hub")

    def encode(self, texts, normalize_embeddings=False):
        letters = "abcdefghijklmnopqrstuvwxyz"
        rows = np.array([[text.lower().count(letter) for letter in letters] for text in texts], dtype=float)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True) if normalize_embeddings else rows
"""


@contextmanager
def installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the package on the path."""
    folder = home / "site" / "sentence_transformers"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(_TEXT)
    monkeypatch.syspath_prepend(str(folder.parent))
    yield
    sys.modules.pop("sentence_transformers", None)
