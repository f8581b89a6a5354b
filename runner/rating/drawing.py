"""Which episodes are rated: a seeded draw over runs and strata, and the texts of what was drawn."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from random import Random

from components.core.errors import ConfigError
from components.rubrics.rubric import Rubric, texts_of
from runner.job.stored import rebuild_experiment
from runner.results.pairs import cluster_of
from runner.results.rows import rows_of
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
    groups: dict[tuple[str, ...], list[tuple[Run, Record]]] = {}
    seen: set[str] = set()
    for row in rows_of(runs):
        eligible: list[tuple[Run, Record]] = []
        for run in row.runs:
            try:
                eligible += [(run, one) for one in run.records if rubric.draw.takes(one["stop"], one["scores"])]
            except ConfigError as error:
                raise ConfigError(f"{run.folder}: {error}") from None
        # in an order that does not depend on when they were finished
        for run, record in sorted(eligible, key=lambda pair: (pair[1]["sample_id"], pair[1]["epoch"])):
            group = [str(record["strata"].get(name, "")) for name in rubric.draw.by]
            if rubric.draw.of == "episodes":
                group.insert(0, row.label)
            elif record["sample_id"] in seen:
                continue
            seen.add(record["sample_id"])
            groups.setdefault(tuple(group), []).append((run, record))
    if not groups:
        raise ConfigError(f"nothing to rate: rubric {rubric.name!r} draws {rubric.draw.which}, and there are none here")
    shuffled = [rng.sample(groups[name], len(groups[name])) for name in sorted(groups)]
    rng.shuffle(shuffled)
    turns = [one for turn in zip_longest(*shuffled) for one in turn if one is not None]
    return _add_texts(rng.sample(turns[:n], min(n, len(turns))), rubric)


def _add_texts(draws: Sequence[tuple[Run, Record]], rubric: Rubric) -> list[Item]:
    """Raises ConfigError when the samples are not there any more, or others are."""
    items: dict[tuple[Path, str, int], Item] = {}
    for run in {run.folder: run for run, _ in draws}.values():
        experiment = rebuild_experiment(run.folder, run.cfg)
        was, now = (run.manifest.get("dataset") or {}).get("fingerprint"), experiment.dataset.fingerprint
        if was != now:
            raise ConfigError(f"{run.folder} was run on data of fingerprint {was!r}, and they are {now!r} now")
        samples = {sample.problem.id: sample for sample in experiment.samples}
        unpacker = Unpacker(TextReader(run.folder))
        keys = {(one["sample_id"], one["epoch"]) for of, one in draws if of.folder == run.folder}
        for record in read(run.folder):
            if (key := (record["sample_id"], record["epoch"])) in keys:
                sample = samples[record["sample_id"]]
                texts = texts_of(rubric.shows, sample, unpacker.trajectory(record))
                texts = {title: remove_model_names(text, run) for title, text in texts.items()}
                images = [image.url for image in sample.problem.images if image.url.startswith("data:image/")]
                items[run.folder, *key] = Item(run, *key, cluster_of(record), texts, images)
    return [items[run.folder, one["sample_id"], one["epoch"]] for run, one in draws]


def remove_model_names(text: str, run: Run) -> str:
    """A text without the names of the run's models, with which an answer may begin."""
    names = {str(name) for name in (run.manifest.get("models") or {}).values()}
    names |= {name.rpartition("/")[2] for name in names}
    parts = "|".join(re.escape(name) for name in sorted(filter(None, names), key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{parts})(?!\w)", _MODEL, text, flags=re.IGNORECASE) if parts else text
