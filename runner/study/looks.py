"""Which runs began under a study, and who looked at their results before all were whole."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.storage import manifest, records
from runner.study import log
from runner.study.frozen import Frozen
from runner.terminal.command import print_note


@dataclass(frozen=True)
class Begun:
    """A run that began under a study; ``n``: its episodes so far, None where its folder is gone."""

    arm: str
    seed: int
    folder: Path
    n: int | None


def begun(study: Path, folders: Iterable[Path] = ()) -> list[Begun]:
    """The runs of a study in the order in which they began; where one was moved, that of ``folders`` with its id. Those
    of ``folders`` that are of the study and not in its log, merged of parts, come last."""
    given = {folder: notes for folder in folders if "protocol" in (notes := manifest.read(folder))}
    found, first = list[Begun](), dict[str, log.Event]()
    for event in log.events(study):
        if event["event"] in ("run", "resumed"):  # whose first line may be lost with the process
            first.setdefault(event["id"], event)
    for event in first.values():
        places = [folder for folder, notes in given.items() if notes["id"] == event["id"]] or [Path(event["folder"])]
        here = manifest.read(places[0]).get("id") == event["id"]
        found.append(Begun(event["arm"], event["seed"], places[0], records.count(places[0]) if here else None))
    known, frozen = {one.folder for one in found}, Frozen.read(study).digest
    merged = ((folder, notes["protocol"]) for folder, notes in given.items() if folder not in known)
    return found + [Begun(of["arm"], of["seed"], folder, records.count(folder))
                    for folder, of in merged if of["frozen"] == frozen]  # fmt: skip


def looks(study: Path) -> list[tuple[log.Event, bool]]:
    """The looks at results before all was run, and whether each was planned: of each planned number of samples it is
    the first look from there on, repeated as long as no sample is added."""
    planned_at, found = Frozen.read(study).study.looks, list[tuple[log.Event, bool]]()
    for event in log.events(study, "look"):
        n, before = min(event["n"].values()), [min(one["n"].values()) for one, _ in found]
        planned = any(look <= n and all(of < look or of == n for of in before) for look in planned_at)
        found.append((event, planned))
    return found


def note_look(folders: Sequence[Path]) -> None:
    """Log that results of runs of a frozen study are looked at before all planned runs are whole."""
    facts = [manifest.read(folder).get("protocol") for folder in folders]
    for study in dict.fromkeys(Path(one["study"]) for one in facts if one):
        if study.exists():
            note_analysis(study, folders, always=False)
        else:
            print_note(f"note: {study}, under whose protocol this was run, is not here: this look is not logged")


def note_analysis(study: Path, folders: Sequence[Path], always: bool = True) -> None:
    """Log an analysis of a study: a look where planned runs are not whole."""
    frozen, n = Frozen.read(study), dict[tuple[str, int], int]()
    for one in begun(study, folders):
        n[one.arm, one.seed] = max(n.get((one.arm, one.seed), 0), one.n or 0)
    early = any(n.get(key, 0) < planned for key, planned in frozen.episodes.items())
    if early or always:
        done = {f"{arm}, seed {seed}": n.get((arm, seed), 0) for arm, seed in frozen.episodes}
        log.add(study, {"event": "look" if early else "analysis", "command": manifest.command_line(), "n": done})
