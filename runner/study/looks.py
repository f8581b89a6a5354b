"""The runs that began under a study, and the looks at their results before all were complete."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import ConfigError
from runner.storage import manifest, records
from runner.study import log
from runner.study.frozen import Frozen


@dataclass(frozen=True)
class StudyRun:
    """A run that began under a study; ``n``: its episodes so far, None where its folder is gone."""

    arm: str
    seed: int
    folder: Path
    n: int | None


def runs_of(study: Path, folders: Iterable[Path] = ()) -> list[StudyRun]:
    """The runs of a study in the order in which they began, without parts of one; where one was moved, that of
    ``folders`` with its id."""
    given = {folder: notes for folder in folders if "protocol" in (notes := manifest.read(folder))}
    found, first = list[StudyRun](), dict[str, log.Event]()
    for event in log.events(study):
        if event["event"] in ("run", "resumed"):  # whose first line may be lost with the process
            first.setdefault(event["id"], event)
    for event in first.values():
        places = [folder for folder, notes in given.items() if notes["id"] == event["id"]] or [Path(event["folder"])]
        here = manifest.read(places[0]).get("id") == event["id"]
        found.append(StudyRun(event["arm"], event["seed"], places[0], records.count(places[0]) if here else None))
    return found


def refuse_unlogged(study: Path, folders: Iterable[Path]) -> None:
    """Raises ConfigError for a folder that began under a study whose log has no line of it any more."""
    forms, ids = ({event.get(key) for event in log.events(study)} for key in ("digest", "id"))
    for folder in folders:
        notes = manifest.read(folder)
        if (of := notes.get("protocol")) and of["frozen"] in forms and notes["id"] not in ids:
            found = f"{folder} began under {study}, and {log.file_of(study)} has no line of it"
            raise ConfigError(f"{found}: restore the log from a copy; resume a run that was killed as it began")


def furthest_of(frozen: Frozen, runs: Sequence[StudyRun]) -> dict[tuple[str, int], StudyRun]:
    """(arm, seed) -> the first run that is whole, whatever came later, else the one that is furthest."""
    found = dict[tuple[str, int], StudyRun]()
    for key, planned in frozen.episodes.items():
        if mine := [one for one in runs if (one.arm, one.seed) == key and one.n]:
            found[key] = max(mine, key=lambda one: min(one.n or 0, planned))  # of equal ones the first
    return found


def looks(study: Path) -> list[tuple[log.Event, bool]]:
    """The looks at results before all runs were complete, and whether each was planned: of each planned number of
    samples it is the first look from there on, repeated as long as no sample is added."""
    planned_at, found = Frozen.read(study).study.looks, list[tuple[log.Event, bool]]()
    for event in log.events(study, "look"):
        n, before = min(event["n"].values()), [min(one["n"].values()) for one, _ in found]
        planned = any(look <= n and all(earlier < look or earlier == n for earlier in before) for look in planned_at)
        found.append((event, planned))
    return found


def note_look(folders: Sequence[Path]) -> None:
    """Log a look at results of a frozen study before all planned runs are complete."""
    facts = [manifest.read(folder).get("protocol") for folder in folders]
    for study in dict.fromkeys(Path(one["study"]) for one in facts if one):
        if log.is_here(study, "this look"):
            note_analysis(study, folders, always=False)


def note_merged(folder: Path) -> Path:
    """Log that a run was merged of its parts, and that it is looked at. Returns its folder."""
    log.note_begin(folder, manifest.read(folder))
    note_look([folder])
    return folder


def note_analysis(study: Path, folders: Sequence[Path], always: bool = True) -> None:
    """Log an analysis of a study: a look where planned runs are not whole."""
    frozen = Frozen.read(study)
    runs = furthest_of(frozen, runs_of(study, folders))
    early = any(key not in runs or (runs[key].n or 0) < planned for key, planned in frozen.episodes.items())
    if early or always:
        done = {f"{arm}, seed {seed}": _n_analysed(frozen, runs.get((arm, seed))) for arm, seed in frozen.episodes}
        log.add(study, {"event": "look" if early else "analysis", "command": manifest.command_line(), "n": done})


def _n_analysed(frozen: Frozen, run: StudyRun | None) -> int:
    """How many samples of a run, over their epochs, are not excluded and have an episode without an error."""
    episodes = records.read(run.folder, steps=False) if run else ()
    ended = [one for one in episodes if one["stop"] != "error"]
    return len({one["sample_id"] for one in ended if frozen.study.keeps(one["sample_id"], one.get("strata", {}))})
