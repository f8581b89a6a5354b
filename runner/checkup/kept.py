"""What earlier runs have left: MLflow's database and the journal, both only read."""

import gzip
import sqlite3
import time
import zlib
from contextlib import closing
from pathlib import Path

from runner.checkup.line import LACKS, OK, Line, size, that

_JOURNAL_SECONDS = 2.0


def store() -> list[Line]:
    """MLflow's database of the default tracking: whether it opens, its schema, its size."""
    from runner.config.catalogue import Catalogue

    uri = str(Catalogue().find("tracking", "mlflow").own["uri"])
    path = Path(uri.removeprefix("sqlite:///"))
    if not path.exists():
        return [Line(LACKS, str(path), "not there yet", "the first tracked run makes it")]
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)) as database:
            (version,) = database.execute("select version_num from alembic_version").fetchone()
            (runs,) = database.execute("select count(*) from runs").fetchone()
    except (sqlite3.Error, TypeError) as error:
        return [Line(LACKS, str(path), f"does not open: {error}", "move it away; then runner.report track FOLDER")]
    return [Line(OK, str(path), f"schema {version}, {runs:,} runs, {size(path.stat().st_size)}", "make ui shows it")]


def journal() -> list[Line]:
    """The segments of the default journal, and which are damaged, as far as two seconds go."""
    from runner.config.catalogue import Catalogue
    from runner.storage.journal_segment import has_writer

    folder = Path(Catalogue().defaults["run"]["journal"])
    paths = sorted(folder.glob("[0-9]*.segment"), reverse=True)
    if not paths:
        return [Line(LACKS, str(folder), "not there yet", "the first run makes it")]
    end, seen, live, damaged = time.monotonic() + _JOURNAL_SECONDS, 0, 0, list[str]()
    for path in paths:
        if time.monotonic() > end:
            break
        seen += 1
        if has_writer(path):
            live += 1
        elif not _whole(path):
            damaged.append(path.name)
    whole = sum(path.stat().st_size for path in paths)
    told = f"{len(paths)} segments, {size(whole)}, {seen} looked at, {live} being written, {len(damaged)} not whole"
    hint = f"{', '.join(damaged[:3])}: whole entries count, the others are asked again" if damaged else ""
    return [that(not damaged, str(folder), told, hint)]


def _whole(path: Path) -> bool:
    """Whether a segment is a whole gzip file; that of a process that was killed is not."""
    try:
        with gzip.open(path) as file:
            while file.read(1 << 20):
                continue
    except (OSError, EOFError, zlib.error):
        return False
    return True
