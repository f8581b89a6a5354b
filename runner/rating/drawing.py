"""Which episodes are rated: a seeded draw over runs and strata, and the texts of what was drawn."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from random import Random

from components.core.errors import ConfigError
from components.core.types import Sample
from components.rubrics.rubric import Rubric, texts_of
from runner.job.stored import rebuild_experiment
from runner.results.pairs import cluster_of
from runner.results.rows import Row, rows_of
from runner.results.runs import Run
from runner.storage.records import read
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader

_MODEL = "[the model]"


@dataclass(frozen=True)
class Item:
    """An episode to rate. ``cluster``: items of one are not independent (a patient). ``texts``: title -> text."""

    run: Run
    sample_id: str
    epoch: int
    cluster: str
    texts: Mapping[str, str]
    images: Sequence[str] = ()


def draw(runs: Sequence[Run], rubric: Rubric, n: int, seed: int) -> list[Item]:
    """Up to n items that the rubric draws, as many of each run and stratum as there are, in random order. Samples that
    are rated themselves count once, whatever runs have them. Raises ConfigError."""
    rng = Random(f"{seed}/{rubric.name}/draw")
    groups: dict[tuple[str, ...], list[Item]] = {}
    seen: set[str] = set()
    for row in rows_of(runs):
        for run, record in _eligible(row, rubric):
            if rubric.draw.of == "samples":
                if record["sample_id"] in seen:
                    continue
                seen.add(record["sample_id"])
            strata = tuple(str(record["strata"].get(name, "")) for name in rubric.draw.by)
            group = strata if rubric.draw.of == "samples" else (row.label, *strata)
            item = Item(run, record["sample_id"], record["epoch"], cluster_of(record), {})
            groups.setdefault(group, []).append(item)
    if not groups:
        raise ConfigError(f"nothing to rate: rubric {rubric.name!r} draws {rubric.draw.which}, and there are none here")
    return _with_texts(_spread(groups, n, rng), rubric)


def _eligible(row: Row, rubric: Rubric) -> list[tuple[Run, Record]]:
    """The records of a row that may be drawn, in an order that does not depend on when they were finished."""
    found = []
    for run in row.runs:
        try:
            found += [(run, one) for one in run.records if rubric.draw.takes(one["stop"], one["scores"])]
        except ConfigError as error:
            raise ConfigError(f"{run.folder}: {error}") from None
    return sorted(found, key=lambda one: (one[1]["sample_id"], one[1]["epoch"]))


def _spread(groups: Mapping[tuple[str, ...], list[Item]], n: int, rng: Random) -> list[Item]:
    """Items of all groups in turn, each group's in random order."""
    shuffled = [rng.sample(groups[name], len(groups[name])) for name in sorted(groups)]
    rng.shuffle(shuffled)
    turns = [item for turn in zip_longest(*shuffled) for item in turn if item is not None]
    return rng.sample(turns[:n], min(n, len(turns)))


def _with_texts(items: Sequence[Item], rubric: Rubric) -> list[Item]:
    complete: dict[tuple[Path, str, int], Item] = {}
    for run in {item.run.folder: item.run for item in items}.values():
        own = {(item.sample_id, item.epoch): item for item in items if item.run.folder == run.folder}
        samples, unpacker = _samples(run), Unpacker(TextReader(run.folder))
        for record in read(run.folder):
            if (item := own.get((record["sample_id"], record["epoch"]))) is not None:
                sample = samples[item.sample_id]
                texts = texts_of(rubric.shows, sample, unpacker.trajectory(record))
                images = [image.url for image in sample.problem.images if image.url.startswith("data:image/")]
                texts = {title: without_model_names(text, run) for title, text in texts.items()}
                complete[run.folder, item.sample_id, item.epoch] = replace(item, texts=texts, images=images)
    return [complete[item.run.folder, item.sample_id, item.epoch] for item in items]


def _samples(run: Run) -> dict[str, Sample]:
    """The samples of a run. Raises ConfigError when they are not there any more, or others are."""
    experiment = rebuild_experiment(run.folder, run.cfg)
    was, now = (run.manifest.get("dataset") or {}).get("fingerprint"), experiment.dataset.fingerprint
    if was != now:
        raise ConfigError(f"{run.folder} was run on data of fingerprint {was!r}, and they are {now!r} now")
    return {sample.problem.id: sample for sample in experiment.samples}


def without_model_names(text: str, run: Run) -> str:
    """A text without the names of the run's models, with which an answer may begin."""
    names = {str(name) for name in (run.manifest.get("models") or {}).values()}
    names |= {name.rpartition("/")[2] for name in names}
    parts = "|".join(re.escape(name) for name in sorted(filter(None, names), key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{parts})(?!\w)", _MODEL, text, flags=re.IGNORECASE) if parts else text
