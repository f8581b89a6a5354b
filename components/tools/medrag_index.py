"""Make the indexes of a folder of passages beforehand: ``python -m components.tools.medrag_index FOLDER CACHE``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import ConfigError
from components.tools.data_files import stamps
from components.tools.index_files import indexed
from components.tools.passages import KINDS, LocalCorpora


def main(arguments: Sequence[str] | None = None) -> int:
    """Index every .jsonl file of a folder; the exit code."""
    parser = argparse.ArgumentParser(prog="medrag_index", description="Index passages (id, title, content) for Medrag.")
    parser.add_argument("folder", help="a folder of .jsonl files, or one file")
    parser.add_argument("cache", help="where the indexes are kept; name it as backend.cache of Medrag")
    given = parser.parse_args(arguments)
    try:
        _index(LocalCorpora(path=given.folder, cache=given.cache))
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _index(corpora: LocalCorpora) -> None:
    """Index every file and tell of it. Raises ConfigError."""
    if corpora.missing:
        raise ConfigError(corpora.missing)
    for file in stamps(corpora.place, KINDS):
        index = indexed(Path(file.path), Path(str(corpora.cache)).expanduser())
        size, terms = len(index.bm25), len(index.bm25.rows)
        sys.stdout.write(f"{file.path}: {size:,} passages, {terms:,} terms\n")


if __name__ == "__main__":
    sys.exit(main())
