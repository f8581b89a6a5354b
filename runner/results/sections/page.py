"""The report of runs in all its formats: which sections it has, and its files."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import tee
from pathlib import Path

from components.core.errors import ConfigError
from runner.results.processes import are_large
from runner.results.publications import gains, ledger
from runner.results.render.formats import TABLES, comma, latex, markdown, page, sheets
from runner.results.rows import headlines, read_metrics
from runner.results.runs import Run, warnings_of
from runner.results.sections import (
    audit,
    cards,
    comparisons,
    confidence,
    episodes,
    figures,
    forks,
    frontier,
    harm,
    means,
    models,
    papers,
    refusals,
    repeated,
    samples,
    scores,
    tools,
    verifier,
)
from runner.results.sections.episode_data import PAGE
from runner.results.sheets import Section
from runner.storage import disk

# Section -> its function, in the order of the page. A new section is a file in ``sections`` and a line here.
SECTIONS: dict[str, Callable[[Sequence[Run]], Section | None]] = {
    "forks": forks.forks,
    "leaderboard": scores.leaderboard,
    "methods": comparisons.methods,
    "models": models.models,
    "curves": figures.curves,
    "per-record": figures.per_record,
    "comparisons": comparisons.comparisons,
    "gains": gains.section,
    "settings": scores.settings,
    "means": means.section,
    "strata": scores.strata,
    "samples": samples.section,
    "repeated": repeated.repeated,
    "frontier": frontier.frontier,
    "tools": tools.section,
    "verifier": verifier.verifier,
    "confidence": confidence.section,
    "refusals": refusals.refusals,
    "harm": harm.harm,
    "audit": audit.audit,
    "papers": papers.section,
    "ledger": ledger.section,
    "cards": cards.section,
    "episodes": episodes.section,
}
_ON_PAGE = SECTIONS | {"means": means.page_section}  # what another section of the page has is left out
READ = "report.md"
_SCORES = 30  # that can be chosen on the page
_NAMED = 4  # agents, datasets or models in a title
_TIME = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")  # begins the name of a folder that is not named otherwise


def write(runs: Sequence[Run], home: Path, title: str | None = None) -> list[Path]:
    """Write page, Markdown and tables of runs into a folder. Returns what was written, the page first. ``report.md`` is
    that of a run in its own folder, and left as it is. Raises ConfigError if a file cannot be written."""
    folder, described = home.resolve().name, about(runs)
    if title is None and _TIME.match(folder):
        title, described = what_ran(runs), f"{folder}; {described}"
    return write_sections(runs, home, (title or folder, described, warnings_of(runs)), sections_of(runs))


def what_ran(runs: Sequence[Run]) -> str:
    """A title of runs: their names, agents, datasets and models."""
    choices = ((run.choices.get("agent", "no agent"), run.choices.get("dataset", run.dataset)) for run in runs)
    named = ((str(run.manifest["name"]), *chosen, run.model) for run, chosen in zip(runs, choices, strict=True))
    names, agents, datasets, models = map(_listed, zip(*named, strict=True))
    return f"{names}: {agents} on {datasets}, model {models}"


def _listed(names: Iterable[str]) -> str:
    different = list(dict.fromkeys(names))
    more = len(different) - _NAMED
    return ", ".join(different[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def write_sections(
    runs: Sequence[Run], home: Path, head: tuple[str, str, Sequence[str]], found: Iterable[Section]
) -> list[Path]:
    """The same of these sections, whose tables are written as they come; ``head``: title, what it is about in a line,
    warnings."""
    (home / TABLES).mkdir(parents=True, exist_ok=True)
    tables, (coming, kept) = list[Path](), tee(found)
    for name, sheet in sheets(coming):
        path = home / TABLES / name
        tables += [_put(Path(f"{path}.csv"), comma(sheet)), _put(Path(f"{path}.tex"), latex(sheet))]
    sections = list(kept)
    written = [_put(home / PAGE, page(*head, sections, headlines(read_metrics(*runs), _SCORES)))]
    if all(run.folder.resolve() != home.resolve() for run in runs):
        written.append(_put(home / READ, markdown(*head, sections)))
    return [*written, *tables]


def sections_of(runs: Sequence[Run]) -> Iterator[Section]:
    """The sections for which runs have anything, in order; of large runs the last, the episodes, which are half of the
    work, in a process of its own."""
    *others, last = SECTIONS
    with _begin(last, runs) as find_last:
        for name in others:
            if (found := _ON_PAGE[name](runs)) is not None:
                yield found
        if (found := find_last()) is not None:
            yield found


@contextmanager
def _begin(name: str, runs: Sequence[Run]) -> Iterator[Callable[[], Section | None]]:
    if not are_large(folders := [run.folder for run in runs]):
        yield partial(SECTIONS[name], runs)
        return
    with ProcessPoolExecutor(1) as pool:
        yield pool.submit(_read_section, name, folders).result


def _read_section(name: str, folders: Sequence[Path]) -> Section | None:
    return SECTIONS[name]([Run.read(folder) for folder in folders])


def about(runs: Sequence[Run]) -> str:
    """The runs in a line: how many, of which data, models and commits, from when to when."""
    notes = [run.manifest for run in runs]
    data = {f"{of.get('name')} ({of.get('split')})" for note in notes if (of := note.get("dataset"))}
    commits = {str(((state := note.get("git")) and state["commit"]) or "unknown")[:10] for note in notes}
    times = [str(note[key]) for note in notes for key in ("start", "end") if note.get(key)]
    days = sorted(time[:16].replace("T", " ") for time in times)
    parts = [
        "1 run" if len(runs) == 1 else f"{len(runs)} runs", f"data: {', '.join(sorted(data))}",
        f"models: {', '.join(sorted({run.model for run in runs}))}", f"commit: {', '.join(sorted(commits))}",
        *([f"from {days[0]} to {days[-1]} UTC"] if days else []),
    ]  # fmt: skip
    return "; ".join(parts)


def _put(path: Path, text: str) -> Path:
    """Write a file in one move, or leave nothing of it. Raises ConfigError."""
    try:
        disk.replace(path, text)
    except disk.Unwritable as error:
        raise ConfigError(str(error)) from None
    return path
