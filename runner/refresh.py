"""The metrics and the report of a finished run, computed again."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from runner.results.metrics import as_json, summarise
from runner.results.ratings import SEVERITY, find_ratings
from runner.results.runs import Run
from runner.results.sections.report import report
from runner.storage import disk, manifest
from runner.storage.integrity import write_metrics
from runner.terminal.command import print_note


class RefreshedRun(NamedTuple):
    """A run with its metrics, and lines on what judges graded."""

    run: Run
    judge_lines: Sequence[str]


def refresh(folder: Path, *, steps: bool = False) -> RefreshedRun:
    """Compute the metrics of a run again, and write metrics.json and report.md unless the folder may only be read. With
    its ``steps``, these are read too. Raises ConfigError."""
    from runner.rating.command import judge_lines

    facts = manifest.read_begun(folder)
    run = Run.read(folder, steps=steps)
    for warning in run.changed:
        print_note(warning)
    rated = find_ratings(folder, facts.get("id"), SEVERITY) is not None
    vars(run)["summary"] = summary = summarise(run.table, run.levels, run.by, run.kinds, rated=rated)
    lines = judge_lines(folder, facts.get("id"), run.scores)
    if os.access(folder, os.W_OK):  # else it is an archive, or somebody else's
        write_metrics(folder, as_json(summary))
        text = report(facts, summary, None) + "".join(f"\n- {line}" for line in lines) + ("\n" if lines else "")
        disk.replace(folder / "report.md", text)
    return RefreshedRun(run, lines)
