"""The report of runs in all its formats: which sections it has, and its files."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from components.core.errors import ConfigError
from runner.results.publications import gains, ledger
from runner.results.render.html import page
from runner.results.render.written import comma, latex, markdown, sheets
from runner.results.runs import Run, warnings_of
from runner.results.sections import (
    cards,
    comparisons,
    episodes,
    figures,
    frontier,
    means,
    papers,
    refusals,
    scores,
    tools,
    verifier,
)
from runner.results.sheets import Section
from runner.storage.records import FILE

# Section -> its function, in the order of the page. A new section is a file in ``sections`` and a line here.
SECTIONS: Mapping[str, Callable[[Sequence[Run]], Section | None]] = {
    "leaderboard": scores.leaderboard,
    "methods": comparisons.methods,
    "models": figures.models,
    "curves": figures.curves,
    "per-record": figures.per_record,
    "comparisons": comparisons.comparisons,
    "gains": gains.section,
    "settings": scores.settings,
    "means": means.section,
    "strata": scores.strata,
    "frontier": frontier.section,
    "tools": tools.section,
    "verifier": verifier.section,
    "refusals": refusals.section,
    "papers": papers.section,
    "ledger": ledger.section,
    "cards": cards.section,
    "episodes": episodes.section,
}
_CACHED = 1 << 24  # bytes of records that are read once and stay in memory for all sections, some 100 MB there
PAGE, READ, TABLES = "report.html", "report.md", "tables"


def sections_of(runs: Sequence[Run]) -> list[Section]:
    """The sections that have something to show."""
    return [found for section in SECTIONS.values() if (found := section(runs)) is not None]


def cached(runs: Sequence[Run], room: int = _CACHED) -> list[Run]:
    """These runs; those whose records have room together cache what they read."""
    found = []
    for run in runs:
        path = run.folder / FILE
        size = path.stat().st_size if path.exists() else 0
        found.append(replace(run, cached=size <= room))
        room -= size if size <= room else 0
    return found


def home_of(runs: Sequence[Run], out: str | None = None) -> Path:
    """Where the report goes: the folder that is given, that of the run, or of the sweep that all of them are of.

    Raises ConfigError for runs that share no folder.
    """
    if out is not None:
        return Path(out)
    folders = {run.folder.resolve() for run in runs}
    homes = {folder.parent for folder in folders}
    if len(folders) == 1:
        return runs[0].folder
    if len(homes) == 1 and all(run.manifest.get("sweep") for run in runs):
        return runs[0].folder.parent
    raise ConfigError("page: these runs have no common sweep folder; give the folder of their report: --out FOLDER")


def write(runs: Sequence[Run], home: Path, title: str | None = None) -> list[Path]:
    """Write page, Markdown and tables of runs into a folder. Returns what was written, the page first.

    ``report.md`` is that of a run in its own folder, and left as it is. Raises ConfigError for what cannot be written.
    """
    home.mkdir(parents=True, exist_ok=True)
    sections = sections_of(cached(runs))
    head = title or home.resolve().name, about(runs), warnings_of(runs)
    written = [_put(home / PAGE, page(*head, sections))]
    if all(run.folder.resolve() != home.resolve() for run in runs):
        written.append(_put(home / READ, markdown(*head, sections)))
    (home / TABLES).mkdir(exist_ok=True)
    for name, sheet in sheets(sections):
        written += [
            _put(home / TABLES / f"{name}.csv", comma(sheet)),
            _put(home / TABLES / f"{name}.tex", latex(sheet)),
        ]
    return written


def about(runs: Sequence[Run]) -> str:
    """The runs in a line: how many, of which data, models and commits, from when to when."""
    data = {f"{of.get('name')} ({of.get('split')})" for run in runs if (of := run.manifest.get("dataset"))}
    states = [run.manifest.get("git") for run in runs]
    commits = {str((state and state["commit"]) or "unknown")[:10] for state in states}
    days = sorted(
        str(run.manifest[key])[:16].replace("T", " ")
        for run in runs
        for key in ("start", "end")
        if run.manifest.get(key)
    )
    parts = [
        "1 run" if len(runs) == 1 else f"{len(runs)} runs", f"data: {', '.join(sorted(data))}",
        f"models: {', '.join(sorted({run.model for run in runs}))}", f"commit: {', '.join(sorted(commits))}",
        *([f"from {days[0]} to {days[-1]} UTC"] if days else []),
    ]  # fmt: skip
    return "; ".join(parts)


def _put(path: Path, text: str) -> Path:
    """Write a file in one move, or leave nothing of it. Raises ConfigError."""
    fresh = path.with_name(path.name + ".tmp")
    try:
        fresh.write_text(text, encoding="utf-8", newline="")
        fresh.replace(path)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
    return path
