"""The end of a sweep: one table over its jobs, in the terminal, in its folder's files and in MLflow."""

import json
from collections.abc import Sequence
from pathlib import Path

from components.core.errors import ConfigError
from runner.job.exit_codes import CONFIG
from runner.job.plan import Cell
from runner.results.publications.gains import show_gains
from runner.results.rows import RunMetrics
from runner.results.runs import Run, warnings_of
from runner.results.sections.comparisons import show_methods
from runner.results.sections.episode_data import PAGE
from runner.results.sections.forks import show_forks
from runner.results.sections.means import show_means
from runner.results.sections.page import write
from runner.results.sections.report import calls_of
from runner.results.sections.scores import jobs_table
from runner.results.terminal import show_sheet
from runner.storage import manifest
from runner.storage.integrity import METRICS
from runner.storage.resume import quote_path
from runner.study.looks import note_look
from runner.terminal.command import print_lines
from runner.tracking import finish_sweep

MEANS = "means.json"


def summarise(plan: Sequence[Cell]) -> None:
    """Print the table of headline metrics, where to look, and send the sweep's own run."""
    done = [cell for cell in plan if cell.code != CONFIG and (cell.folder / METRICS).exists()]  # not what was refused
    if not done:
        return
    runs = [Run.at(cell.folder, cell.cfg) for cell in done]
    note_look([run.folder for run in runs])
    found = [RunMetrics(run, cell.label) for cell, run in zip(done, runs, strict=True)]
    home = plan[0].home
    if not (forked := show_forks(runs)):
        show_sheet(jobs_table(f"{len(done)} of {len(plan)} jobs", found), single=True)
    print()  # noqa: T201
    show_methods(runs, home=home, most=0 if forked else 1)
    if means := show_means(runs, brief=True):
        (home / MEANS).write_text(json.dumps(means, indent=1), encoding="utf-8")
    show_gains(runs, home)
    print(f"all tables: python -m runner.report table {quote_path(home)} --all")  # noqa: T201
    finish(runs, done, home)


def finish(runs: Sequence[Run], plan: Sequence[Cell], home: Path, files: Sequence[Path] = ()) -> None:
    """Write a sweep's page, send its own run to MLflow with that and ``files``, and print calls and where to look."""
    print_lines(*warnings_of(runs), calls(plan), f"folder:     {home}")
    pages, page = list[Path](), home / PAGE
    before = page.read_bytes() if page.is_file() else b""
    try:
        if runs:
            pages = write(runs, home)
            print(f"report:     {pages[0]}")  # noqa: T201
    except ConfigError as error:  # a report that cannot be written costs one line, no result
        print_lines(f"no report:  {error}")
    folders = [run.folder for run in runs]
    if runs:
        same = bool(pages) and page.read_bytes() == before
        finish_sweep(home, folders, runs[0].cfg, [*files, *pages], same=same)


def finish_interrupted(plan: Sequence[Cell]) -> None:
    """Have the sweep's own run in MLflow, which its first job made, end too."""
    if started := [cell for cell in plan if (cell.folder / manifest.FILE).exists()]:
        finish_sweep(plan[0].home, [cell.folder for cell in plan], started[0].cfg)


def calls(plan: Sequence[Cell]) -> str:
    """How many calls the jobs that ran now sent since this start, and how many the journal answered."""
    if not (ran := [cell for cell in plan if cell.code is not None]):
        return "calls:      none, all jobs were finished before"
    began = [one for cell in ran for one in cell.parts or (cell,) if one.code is not None and not one.error]
    counts = [sessions[-1] for one in began if (sessions := manifest.read(one.folder)["sessions"])]
    return calls_of(counts, ", over 1 job" if len(ran) == 1 else f", over {len(ran)} jobs")
