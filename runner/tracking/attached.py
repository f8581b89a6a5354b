"""A sweep's report beside its parent run."""

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.tracking.describe import Job
from runner.tracking.store import Tracker, texts_may_leave

log = logging.getLogger(__name__)


def attach(
    tracker: Tracker, run_id: str, files: Sequence[Path], jobs: Sequence[Job], config: Mapping[str, Any]
) -> None:
    """Send files as artifacts of a run, below each other as they lie below the first one's folder; none of them
    where the texts of any job's data may not leave."""
    kept = [job for job in jobs if not texts_may_leave(config, _privacy(job))]
    if kept and files:
        log.warning("%s and its tables stay here, see tracking.permits", files[0])
        return
    for path in files:
        below = os.path.relpath(path.parent, files[0].parent)
        tracker.client.log_artifact(run_id, str(path), None if below == "." else below)


def _privacy(job: Job) -> str:
    return str((job.manifest.get("dataset") or {}).get("privacy", "unknown"))
