"""Sentence embeddings through an optional extra: any model that sentence-transformers loads, such as BioLORD.

Source: Remy et al. 2024 (BioLORD-2023), arXiv 2311.16075; Reimers & Gurevych 2019, arXiv 1908.10084.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from components.core.errors import ConfigError, missing_extra

_LIBRARY = "sentence_transformers"


@runtime_checkable
class Embedding(Protocol):
    """Texts as vectors."""

    @property
    def name(self) -> str:
        """The model, as it is named in what is made."""

    @property
    def missing(self) -> str:
        """What has to be installed first, in one line; empty where nothing is missing."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector per text, all of one length. Raises ConfigError."""


@dataclass(frozen=True)
class SentenceEmbedding:
    """A model of sentence-transformers: a name on the Hugging Face hub, or a folder. Runs in this process."""

    name: str = "FremyCompany/BioLORD-2023"
    device: str | None = None

    @property
    def missing(self) -> str:
        """The extra, where it is not installed."""
        return missing_extra("the sentence embedding", _LIBRARY, "embedding")

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
