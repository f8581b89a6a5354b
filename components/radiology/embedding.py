"""A picture of RadABench's records: a text of each as a sentence embedding, reduced to two dimensions by t-SNE.

Source: Zheng et al. 2024, arXiv 2412.09529, Figure 2, with BioLORD (Remy et al. 2024, arXiv 2311.16075; Reimers &
Gurevych 2019, arXiv 1908.10084); van der Maaten & Hinton 2008 (t-SNE). Departure: which text is embedded, and by which
perplexity, are settings here; the defaults are ours. Embeddings need an optional extra.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from itertools import count, cycle
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol, runtime_checkable

from annotated_types import Gt
from pydantic import StringConstraints

from components.core.errors import ConfigError, missing_extra
from components.core.learning import Made, StageContext
from components.core.traits import StageTraits
from components.core.types import Sample
from components.files.folders import NEW, MadeFolder

_LIBRARY = "sentence_transformers"


@runtime_checkable
class Embedding(Protocol):
    """Texts as vectors."""

    @property
    def name(self) -> str:
        """The name of the model in the manifest."""

    @property
    def missing(self) -> str:
        """The requirement that is not installed, in one line; empty where nothing is missing."""

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
        vectors: Sequence[Sequence[float]] = model.encode(list(texts), normalize_embeddings=True)
        return vectors


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)]
PICTURE, POINTS = "records.svg", "records.csv"
_LEAST = 5
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000")  # Okabe & Ito 2008


@dataclass(frozen=True)
class EmbedRecords:
    """Writes ``records.svg`` and ``records.csv``: a point per evaluated record, coloured ``by`` a stratum. ``text``:
    the embedded part of a record. Without the extra nothing is written, and a line says so."""

    embedding: Embedding
    name: Name = "records"
    folder: str | None = None
    text: Literal["disease", "report", "treatment"] = "report"
    by: Literal["anatomy", "modality"] = "anatomy"
    perplexity: Annotated[float, Gt(0)] = 30.0
    traits: ClassVar[StageTraits] = StageTraits(
        unread=(
            "model", "agent", "verifier", "toolset", "condition", "scorer", "memory", "budget", "run.journal",
            "run.memory", "run.replay",
        )
    )  # fmt: skip

    @property
    def place(self) -> Path:
        """The folder of the picture."""
        return Path("outputs/embedding") / self.name if self.folder is None else Path(self.folder)

    def check(self, context: StageContext) -> None:
        """Raises ConfigError where there are too few records."""
        if (n := len(_records(context.evaluated))) < _LEAST:
            raise ConfigError(
                f"it needs at least {_LEAST} records of RadABench, the dataset has {n} (dataset=radabench_mini has 66)"
            )
        if self.place.is_dir():
            MadeFolder(self.place).notes(context.begun, "stage.name")

    async def make(self, context: StageContext) -> Made:
        """Embed, reduce to two dimensions, draw; or report what is missing. Raises ConfigError."""
        home = MadeFolder(self.place)
        notes = {**context.facts, "begun": context.begun, "embedding": self.embedding.name}
        with home.held():
            home.notes(context.begun, "stage.name")
            if why := self.embedding.missing or missing_extra("t-SNE", "sklearn", "embedding"):
                home.note({**notes, "status": NEW, "skipped": why})
                return Made(self.place, [f"skipped:    {why}"])
            samples = _records(context.evaluated)
            perplexity = min(self.perplexity, (len(samples) - 1) / 3)  # it must be below the number of records
            records = [one.metadata["record"] for one in samples]
            if self.text == "report":
                texts = [" ".join(record["Report"][part] for part in ("Finding", "Impression")) for record in records]
            else:
                texts = [str(record[self.text.capitalize()]) for record in records]
            points = _points(self.embedding.embed(texts), perplexity, context.seed)
            table = io.StringIO()
            writer = csv.writer(table, lineterminator="\n")
            writer.writerow(("record", "anatomy", "modality", "disease", "x", "y"))
            for one, (x, y) in zip(samples, points, strict=True):
                place = (one.strata["anatomy"], one.strata["modality"], one.metadata["record"]["Disease"])
                writer.writerow((one.cluster, *place, f"{x:.6f}", f"{y:.6f}"))
            home.write(POINTS, table.getvalue())
            home.write(PICTURE, _picture(samples, points, self.by))
            home.note({**notes, "status": "complete", "records": len(samples), "perplexity": perplexity})
        line = f"picture:    {self.place / PICTURE}: {len(samples)} records, {self.text} by {self.embedding.name}"
        return Made(self.place, [line])


def _points(embedded: Sequence[Sequence[float]], perplexity: float, seed: int) -> list[tuple[float, float]]:
    """A point per vector, coordinates from 0 to 1; the same for the same seed."""
    import numpy as np

    manifold: Any = import_module("sklearn.manifold")
    tsne = manifold.TSNE(perplexity=perplexity, random_state=seed, init="random")
    found = tsne.fit_transform(np.asarray(embedded, dtype=float))
    found = (found - found.min(axis=0)) / np.maximum(np.ptp(found, axis=0), 1e-12)
    return [(float(x), float(y)) for x, y in found]


def _records(samples: Sequence[Sample]) -> list[Sample]:
    found: dict[str | None, Sample] = {}
    for one in samples:
        if isinstance(record := one.metadata.get("record"), Mapping) and "Report" in record:
            found.setdefault(one.cluster, one)
    return [*found.values()]


def _picture(samples: Sequence[Sample], points: Sequence[tuple[float, float]], by: str) -> str:
    """The points with a legend, as SVG; the title of each is its record."""
    colours = dict(zip(dict.fromkeys(one.strata[by] for one in samples), cycle(_COLOURS), strict=False))
    parts = [
        f'<circle cx="{20 + 600 * x:.1f}" cy="{20 + 600 * (1 - y):.1f}" r="4" fill="{colours[one.strata[by]]}">'
        f"<title>{escape(str(one.cluster))}: {escape(one.metadata['record']['Disease'])}</title></circle>"
        for one, (x, y) in zip(samples, points, strict=True)
    ]
    for top, (value, colour) in zip(count(20, 20), colours.items(), strict=False):
        parts.append(f'<circle cx="648" cy="{top}" r="5" fill="{colour}"/>')
        parts.append(f'<text x="660" y="{top + 4}">{escape(value)}</text>')
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="840" height="640" font-family="sans-serif" font-size="12">'
    return f"{head}{''.join(parts)}</svg>\n"
