"""Make the indexes of a folder of passages beforehand: ``python -m components.tools.medrag_index FOLDER CACHE``."""

import argparse
import sys
from collections.abc import Sequence

from components.core.errors import ConfigError
from components.tools.passages import LocalCorpora


def main(arguments: Sequence[str] | None = None) -> int:
    """Index every .jsonl file of a folder; the exit code."""
    parser = argparse.ArgumentParser(
        prog="medrag_index", description="Index passages (id, title, content) for Medrag.", allow_abbrev=False
    )
    parser.add_argument("folder", help="a folder of .jsonl files, or one file")
    parser.add_argument("cache", help="the folder for the indexes; name it as backend.cache of Medrag")
    options = parser.parse_args(arguments)
    try:
        corpora = LocalCorpora(path=options.folder, cache=options.cache)
        if corpora.missing:
            raise ConfigError(corpora.missing)
        for index in corpora.loaded:
            size, terms = len(index.bm25), len(index.bm25.rows)
            sys.stdout.write(f"{index.path}: {size:,} passages, {terms:,} terms\n")
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
