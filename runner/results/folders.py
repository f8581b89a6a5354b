"""Which folders a name means, and where files about several runs go."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

from components.core.errors import ConfigError
from components.text.words import meant
from runner.results.runs import Run
from runner.storage import manifest
from runner.storage.records import FILE as RECORDS
from runner.storage.resume import setting
from runner.terminal.command import print_note


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


def run_folders(folder: Path) -> list[Path]:
    """The folder, or the runs of a sweep's folder in the order of its jobs, without numbers in that in which they
    began, with a note on each that is left out. Raises ConfigError for one that is neither."""

    def order(path: Path) -> tuple[float, str]:
        facts = manifest.read(path)
        return inf if (number := facts.get("number")) is None else number, str(facts.get("start", ""))

    folders, others = [folder], list[Path]()
    try:
        refuse_missing(folder)
        if not (folder / RECORDS).is_file():
            jobs, others = _jobs_of(folder)
            recorded = [path for path in jobs if (path / RECORDS).is_file()]
            folders = sorted(recorded, key=order) or folders
            for path in jobs if recorded else ():
                if path not in recorded:
                    print_note(f"note: {path} has no {RECORDS} and is left out; {setting('run.resume', path)} runs it")
            if recorded and others:
                print_note(f"note: left out, runs in subfolders ({len(others)}); name them too, such as {others[0]}")
        for path in folders:
            if missing := [name for name in (RECORDS, manifest.FILE, "config.yaml") if not (path / name).is_file()]:
                such = f", but holds those of runs: name one, such as {others[0]}" if others else ""
                raise ConfigError(f"{path} is not a run folder: it has no {missing[0]}{such}")
        return folders
    except (OSError, ValueError) as error:
        raise ConfigError(f"{str(folder)[:200]!r} cannot be read as a folder: {error}") from None


def refuse_missing(folder: Path) -> None:
    """Raises ConfigError for a missing folder, with the nearest names."""
    if not folder.exists():
        siblings = folder.parent.iterdir() if folder.parent.is_dir() else ()
        near = meant(folder.name, [path.name for path in siblings])
        raise ConfigError(f"there is no folder {str(folder)[:200]}; {near}name a run's or a sweep's")


def _jobs_of(folder: Path) -> tuple[list[Path], list[Path]]:
    """The folders in this one that jobs began, deeper ones where they are of this sweep; and runs below of others."""
    is_ours, name = dict[Path, bool](), folder.resolve().name
    for depth in ("*", "*/*", "*/*/*", "*/*/*/*"):  # hydra.sweep.subdir may have several parts
        for path in sorted({one.parent for file in (RECORDS, manifest.FILE) for one in folder.glob(f"{depth}/{file}")}):
            if is_ours.keys().isdisjoint(path.parents):
                is_ours[path] = depth == "*" or manifest.read(path).get("sweep") == name
    others = [path for path, ours in is_ours.items() if not ours and (path / RECORDS).is_file()]
    return sorted(path for path, ours in is_ours.items() if ours), others
