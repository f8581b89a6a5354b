"""Where files about several runs go."""

from collections.abc import Sequence
from pathlib import Path

from runner.results.runs import Run


def folder_of(runs: Sequence[Run]) -> Path | None:
    """The folder of the run, or of the sweep that all of these are of; None for others."""
    folders = {run.folder.resolve() for run in runs}
    if len(folders) == 1:
        return runs[0].folder
    homes = {_home(run) if run.manifest.get("sweep") else None for run in runs}
    return homes.pop() if len(homes) == 1 else None


def _home(run: Run) -> Path:
    """The folder of a job's sweep, by its name where the job is deeper in it."""
    return next((of for of in run.folder.parents if of.name == run.manifest["sweep"]), run.folder.parent)
