"""The terms of vocabulary files: what EntityRecognizor knows by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from components.files.rows import json_lines
from components.tools.data_files import Stamp


@dataclass(frozen=True)
class Entry:
    """An entry of a vocabulary."""

    cui: str
    name: str
    semantic_type: str


@lru_cache(maxsize=4)
def entries(files: tuple[Stamp, ...]) -> Mapping[str, Entry]:
    """Lower-cased term -> its entry, from JSON Lines with cui, name, synonyms and semantic_type.

    Plurals in -s are added; the first entry of a term counts. Raises ConfigError, naming line and key, for a row that
    is not as it should be.
    """
    found: dict[str, Entry] = {}
    for file in files:
        for row in json_lines(Path(file.path)):
            entry = Entry(row.text("cui"), row.text("name"), row.text("semantic_type"))
            for term in (entry.name, *row.texts("synonyms")):
                found.setdefault(term.strip().lower(), entry)
    for term in [term for term in found if not term.endswith("s")]:
        found.setdefault(f"{term}s", found[term])
    return found
