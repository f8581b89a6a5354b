"""A picture of RadABench's records: a text of each as a sentence embedding, reduced to two dimensions by t-SNE.

Source: Zheng et al. 2024, arXiv 2412.09529, Figure 2, with BioLORD; van der Maaten & Hinton 2008 (t-SNE). Departure:
which text is embedded, and by which perplexity, are settings here; the defaults are ours.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Gt
from pydantic import StringConstraints

from components.core.errors import ConfigError
from components.core.learning import Made, StageContext
from components.core.types import Sample
from components.files.made_folder import NEW, MadeFolder
from components.stages.embedding import Embedding

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)]
PICTURE, POINTS = "records.svg", "records.csv"
_LEAST, _SIZE, _EDGE, _LEGEND = 5, 640, 20, 200
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000")  # Okabe & Ito 2008
_REPORT = ("Finding", "Impression")
_NO_SKLEARN = "t-SNE needs the optional extra 'embedding': pip install 'wardround[embedding]'"


@dataclass(frozen=True)
class EmbedRecords:
    """Writes ``records.svg`` and ``records.csv``: a point per evaluated record, coloured ``by`` a stratum.

    ``text``: what of a record is embedded. Where the extra is not installed nothing is made, and a line says so.
    """

    embedding: Embedding
    name: Name = "records"
    folder: str | None = None
    text: Literal["disease", "report", "treatment"] = "report"
    by: Literal["anatomy", "modality"] = "anatomy"
    perplexity: Annotated[float, Gt(0)] = 30.0

    @property
    def place(self) -> Path:
        """Where the picture is written."""
        return Path("outputs/embedding") / self.name if self.folder is None else Path(self.folder)

    def check(self, bench: StageContext) -> None:
        """Whether there are records enough. Raises ConfigError."""
        if (n := len(_records(bench.evaluated))) < _LEAST:
            raise ConfigError(
                f"it needs at least {_LEAST} records of RadABench, the dataset has {n} (dataset=radabench_mini has 66)"
            )
        if self.place.is_dir():
            MadeFolder(self.place).notes(bench.begun, "stage.name")

    async def make(self, bench: StageContext) -> Made:
        """Embed, reduce to two dimensions, draw; or say what is missing. Raises ConfigError."""
        home, notes = MadeFolder(self.place), {**bench.facts, "begun": bench.begun, "embedding": self.embedding.name}
        with home.held():
            home.notes(bench.begun, "stage.name")
            if why := self.embedding.missing or (None if find_spec("sklearn") else _NO_SKLEARN):
                home.note({**notes, "status": NEW, "skipped": why})
                return Made(self.place, [f"skipped:    {why}"])
            samples = _records(bench.evaluated)
            points = self._points([self._text(one.metadata["record"]) for one in samples], bench.seed)
            home.write(POINTS, _table(samples, points))
            home.write(PICTURE, _picture(samples, points, self.by))
            home.note(
                {**notes, "status": "complete", "records": len(samples), "perplexity": self._limited(len(samples))}
            )
        said = f"picture:    {self.place / PICTURE}: {len(samples)} records, {self.text} by {self.embedding.name}"
        return Made(self.place, [said])

    def _text(self, record: Mapping[str, Any]) -> str:
        if self.text == "report":
            return " ".join(record["Report"][part] for part in _REPORT)
        return str(record[self.text.capitalize()])

    def _limited(self, n: int) -> float:
        """The perplexity, which must be below the number of records: a third of the others at most."""
        return min(self.perplexity, (n - 1) / 3)

    def _points(self, texts: Sequence[str], seed: int) -> list[tuple[float, float]]:
        """A place per text, each from 0 to 1; the same for the same seed."""
        import numpy as np

        vectors = np.asarray(self.embedding.embed(texts), dtype=float)
        manifold: Any = import_module("sklearn.manifold")
        tsne = manifold.TSNE(perplexity=self._limited(len(texts)), random_state=seed, init="random")
        found = tsne.fit_transform(vectors)
        found = (found - found.min(axis=0)) / np.maximum(np.ptp(found, axis=0), 1e-12)
        return [(float(x), float(y)) for x, y in found]


def _records(samples: Sequence[Sample]) -> list[Sample]:
    """The first sample of each record of RadABench."""
    found: dict[str | None, Sample] = {}
    for one in samples:
        if isinstance(record := one.metadata.get("record"), Mapping) and "Report" in record:
            found.setdefault(one.cluster, one)
    return [*found.values()]


def _table(samples: Sequence[Sample], points: Sequence[tuple[float, float]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("record", "anatomy", "modality", "disease", "x", "y"))
    for one, (x, y) in zip(samples, points, strict=True):
        place = (one.strata["anatomy"], one.strata["modality"], one.metadata["record"]["Disease"])
        writer.writerow((one.cluster, *place, f"{x:.6f}", f"{y:.6f}"))
    return text.getvalue()


def _picture(samples: Sequence[Sample], points: Sequence[tuple[float, float]], by: str) -> str:
    """The points with a legend, as SVG; each one names its record."""
    values = [*dict.fromkeys(one.strata[by] for one in samples)]
    colour = {value: _COLOURS[n % len(_COLOURS)] for n, value in enumerate(values)}
    parts = []
    for one, (x, y) in zip(samples, points, strict=True):
        left, top = (_EDGE + part * (_SIZE - 2 * _EDGE) for part in (x, 1 - y))
        title = escape(f"{one.cluster}: {one.metadata['record']['Disease']}")
        fill = colour[one.strata[by]]
        parts.append(f'<circle cx="{left:.1f}" cy="{top:.1f}" r="4" fill="{fill}"><title>{title}</title></circle>')
    for n, value in enumerate(values):
        top = _EDGE + 20 * n
        parts.append(f'<circle cx="{_SIZE + 8}" cy="{top}" r="5" fill="{colour[value]}"/>')
        parts.append(f'<text x="{_SIZE + 20}" y="{top + 4}">{escape(value)}</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE + _LEGEND}" height="{_SIZE}" font-family="sans-serif"'
    )
    return f'{head} font-size="12">{"".join(parts)}</svg>\n'
