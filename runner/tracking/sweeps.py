"""Which sweep a job is of: a tag in a file of the sweep's folder, whose jobs may lie deeper, and which may be moved."""

import re
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from runner.storage import disk, manifest
from runner.storage.integrity import refuse_changed
from runner.tracking.describe import Job, job_of, safe, table
from runner.tracking.unsent import DAMAGED

FILE = ".sweep"
_ID = re.compile("-[0-9a-f]{8}$")


def tag_of(home: Path) -> str:
    """The tag of the sweep in a folder, made where it is missing: the folder's name and an id, as two sweeps may begin
    in the same second. Raises OSError."""
    home.mkdir(parents=True, exist_ok=True)
    with disk.locked(path := home / FILE):  # jobs on several machines may begin at once
        if not (tag := path.read_text(encoding="utf-8")):
            path.write_text(tag := f"{safe(home.absolute().name)}-{uuid4().hex[:8]}", encoding="utf-8")
    return safe(tag)


def tag_above(folder: Path, name: str) -> str | None:
    """The tag of the sweep of this name in which a job's folder lies; None where it was moved out. Raises OSError."""
    above = folder.absolute().parents
    tagged = (home for home in above if (home / FILE).is_file())
    named = (home for home in above if home.name == name)  # it was not tracked when it ran
    home = next(tagged, None) or next(named, None)
    return None if home is None else tag_of(home)


def name_of(tag: str) -> str:
    """The name in a tag."""
    return _ID.sub("", tag)


def whole_jobs(folders: Sequence[Path]) -> tuple[list[Job], list[Exception]]:
    """The jobs of a sweep that have begun, and what is wrong with those that are damaged."""
    jobs, damaged = list[Job](), list[Exception]()
    for folder in folders:
        try:
            if (folder / manifest.FILE).exists():
                refuse_changed(folder)
                job = job_of(folder)
                _ = table([job]), job.privacy, job.start, job.end  # what is read of it
                jobs.append(job)
        except DAMAGED as error:
            damaged.append(error)
    return jobs, damaged
