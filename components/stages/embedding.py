"""Sentence embeddings through an optional extra: any model that sentence-transformers loads, such as BioLORD.

Source: Remy et al. 2024 (BioLORD-2023), arXiv 2311.16075; Reimers & Gurevych 2019, arXiv 1908.10084.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, runtime_checkable

from components.core.errors import ConfigError

_LIBRARY, _EXTRA = "sentence_transformers", "pip install 'wardround[embedding]'"


@runtime_checkable
class Embedding(Protocol):
    """Texts as vectors."""

    @property
    def name(self) -> str:
        """The model, as it is named in what is made."""

    @property
    def missing(self) -> str | None:
        """What has to be installed first, in one line; None where nothing is missing."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector per text, all of one length. Raises ConfigError."""


@dataclass(frozen=True)
class SentenceEmbedding:
    """A model of sentence-transformers: a name on the Hugging Face hub, or a folder. Runs in this process."""

    name: str = "FremyCompany/BioLORD-2023"
    device: str | None = None

    @property
    def missing(self) -> str | None:
        """The extra, where it is not installed."""
        return None if find_spec(_LIBRARY) else f"sentence embeddings need the optional extra 'embedding': {_EXTRA}"

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Vectors of length 1. Raises ConfigError where the model cannot be loaded."""
        library: Any = import_module(_LIBRARY)
        try:
            model = library.SentenceTransformer(self.name, device=self.device)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"the embedding model {self.name!r} cannot be loaded: {str(error).splitlines()[0]}"
            ) from None
        found: Sequence[Sequence[float]] = model.encode(list(texts), normalize_embeddings=True)
        return found
