"""What records are to be written: pairs of anatomy and modality, with diseases from a table."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import ConfigError
from components.files.draws import draw
from components.prompts import load
from components.radiology.tasks import PAIRS

_COLUMNS = ("anatomy", "modality", "disease")


@dataclass(frozen=True)
class Cell:
    """A record that is to be written."""

    id: str
    anatomy: str
    modality: str
    disease: str


def cells_of(
    prompts: str, path: str | None, anatomies: Sequence[str] | None, modalities: Sequence[str] | None,
    per_pair: int | None, per_disease: int, seed: int,
) -> list[Cell]:  # fmt: skip
    """The records in the order of the pairs. ``path``: a table of one's own, None: that of the prompt set.

    Raises ConfigError when nothing is left, or the table is not as it should be.
    """
    table = _shipped(prompts) if path is None else _own(Path(path).expanduser())
    cells: list[Cell] = []
    for anatomy, modality in PAIRS:
        if any(some is not None and one not in some for one, some in ((anatomy, anatomies), (modality, modalities))):
            continue
        diseases = table.get((anatomy, modality), [])
        for disease in draw(diseases, per_pair, f"{seed}/synthesize/{anatomy}/{modality}"):
            words = "-".join(re.findall(r"[a-z0-9]+", f"{anatomy} {modality} {disease}".lower()))
            cells += [Cell(f"{words}-{n}", anatomy, modality, disease) for n in range(1, per_disease + 1)]
    if not cells:
        raise ConfigError("no disease is left to write about; see stage.anatomies, stage.modalities, stage.diseases")
    most, n = Counter(one.id for one in cells).most_common(1)[0]
    if n > 1:
        raise ConfigError(f"stage.diseases: {most!r} would be written twice; name each disease of a pair once")
    return cells


def _shipped(prompts: str) -> dict[tuple[str, str], list[str]]:
    told = load(prompts).data("diseases")
    return {(anatomy, modality): list(of[modality]) for anatomy, of in told.items() for modality in of}


def _own(path: Path) -> dict[tuple[str, str], list[str]]:
    """A table in CSV."""
    if not path.is_file():
        raise ConfigError(f"stage.diseases={str(path)!r}: there is no such file")
    try:
        return _read(path)
    except UnicodeDecodeError as error:
        raise ConfigError(f"stage.diseases: {path}: byte {error.start} is not UTF-8") from None
    except (csv.Error, OSError) as error:
        raise ConfigError(f"stage.diseases: {path} cannot be read: {error}") from None


def _read(path: Path) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if lacking := [name for name in _COLUMNS if name not in (rows.fieldnames or ())]:
            raise ConfigError(
                f"stage.diseases: {path} has no column {lacking[0]!r}; expected are {', '.join(_COLUMNS)}"
            )
        for row in rows:
            anatomy, modality, disease = (str(row[name] or "").strip() for name in _COLUMNS)
            if (anatomy, modality) not in PAIRS:
                raise ConfigError(f"stage.diseases: {path}, line {rows.line_num}: no pair {anatomy!r}, {modality!r}")
            if not disease:
                raise ConfigError(f"stage.diseases: {path}, line {rows.line_num}: the disease is missing")
            found.setdefault((anatomy, modality), []).append(disease)
    return found
