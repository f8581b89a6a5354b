"""Freezing a study: every planned run is composed and checked, its power computed, and all of it written."""

import json
import math
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.core.types import Sample
from runner.config.errors import nearest, with_place
from runner.experiment.experiment import facts_of
from runner.job.prepare import prepare_words
from runner.protocol import stamp
from runner.results.claims import Clusters, Planned
from runner.results.kinds import Kinds, better, kind_of
from runner.results.levels import Levels
from runner.results.table import OWN
from runner.storage import disk, manifest
from runner.storage.schema import Manifest
from runner.storage.texts import without_surrogates
from runner.study import log
from runner.study.frozen import Frozen, code_digest, place_of, planned_of
from runner.study.plan import Hypothesis, Study, read


def plan_of(path: Path, content: Any = None) -> Frozen:
    """What would be frozen of a study now; ``content``: what it says in place of its file. Raises ConfigError for one
    that cannot be run as it says."""
    written, file = read(path)
    study = Study.of(content := content or written, str(path))
    runs, samples, allow = list[dict[str, Any]](), dict[str, Sample](), set[str]()
    kinds, levels = dict[str, Any](), dict[str, Sequence[str]]()
    for seed in study.seeds:
        first: dict[str, Any] = {}
        for arm in study.arms:
            where = f"{path}: {arm}, seed {seed}"
            with with_place(where):
                experiment = prepare_words(study.words(arm, seed))
            facts = facts_of(experiment)
            _check(study, arm, facts, where)
            planned = planned_of(experiment.cfg, facts)
            first = first or planned
            if differing := [key for key in planned if key.startswith("data.") and planned[key] != first[key]]:
                raise ConfigError(f"{where}: its {differing[0]} is not that of the first arm: nothing could be paired")
            if same := next((one["arm"] for one in runs if one["planned"] == planned), None):
                raise ConfigError(f"{where}: arms: it is identical to {same}")
            samples |= {one.problem.id: one for one in _analysed(study, experiment.samples, where)}
            runs.append({"arm": arm, "seed": seed, "words": study.words(arm, seed),
                         "episodes": len(experiment.episodes), "planned": planned})  # fmt: skip
            allow |= {*experiment.cfg["run"]["allow_targets"]}
            kinds, levels = kinds | facts["kinds"], levels | facts["levels"]
    power = [one for family in (study.primary, study.secondary)
             for one in _power_of(study, family, list(samples.values()), kinds, levels)]  # fmt: skip
    code = code_digest(packages := sorted(allow))
    return Frozen(path, manifest.now(), file, content, code, packages, manifest.git_state(), runs, power)


def _check(study: Study, arm: str, facts: Manifest, where: str) -> None:
    """Raises ConfigError if the study and the settings of a run contradict each other."""
    if facts["models"] != study.models:
        raise ConfigError(f"{where}: models: found {facts['models']}, the study states {dict(study.models)}")
    if facts["shard"] is not None:
        raise ConfigError(f"{where}: run.shard={facts['shard']}: a study plans whole runs; remove it from its words")
    for one in study.hypotheses:
        if arm not in one.compare:
            continue
        if one.metric not in facts["kinds"] and one.metric not in OWN:
            near = nearest(one.metric, [*facts["kinds"], *OWN])
            decides = f"; {facts['decides']} decides" if facts["decides"] else ""
            raise ConfigError(f"{where}: {one.name}: no metric {one.metric!r}; {near}{decides}")
        if (way := better(one.metric, [facts])) and way != one.direction:
            raise ConfigError(f"{where}: {one.name}: direction: {one.metric} is better {way}, not {one.direction}")
        if one.differ is not None and (kind := kind_of(one.metric, facts["kinds"])) != "proportion":
            raise ConfigError(f"{where}: {one.name}: differ: {one.metric} is a {kind}, not 0 or 1: give sd")


def _analysed(study: Study, samples: Sequence[Sample], where: str) -> list[Sample]:
    """The samples that are not excluded. Raises ConfigError where they are not as many as planned."""
    kept = [s for s in samples if study.keeps(s.problem.id, s.strata)]
    if len(kept) != study.samples:
        excluded = f", of which {len(samples) - len(kept)} are excluded" if study.exclusions else ""
        text = f"{study.samples} are planned; its settings select {len(samples)}{excluded}"
        raise ConfigError(f"{where}: samples: {text}; set limit=N in common, or samples: {len(kept)}")
    for one in study.strata:
        if missing := [s.problem.id for s in kept if one not in s.strata]:
            raise ConfigError(f"{where}: strata: sample {missing[0]} has no {one!r}; {nearest(one, kept[0].strata)}")
    return kept


def _power_of(
    study: Study, family: Sequence[Hypothesis], samples: Sequence[Sample], kinds: Kinds, levels: Levels
) -> Iterator[dict[str, Any]]:
    """The power of each hypothesis, tested at the strictest level that it may meet. A sample of several seeds or epochs
    counts once: they may all say the same."""
    alpha = study.final_alpha / (max(1, len(family)) if study.multiplicity == "holm" else 1)
    names = [one.cluster or one.problem.id for one in samples]
    for one in family:
        of = levels.get(one.metric, ())[::-1]
        clusters = Clusters.of(names, [tuple(sample.strata.get(level) for level in of) for sample in samples])
        share, exact = one.differ or 0.0, one.differ is not None and one.bounds == (0.0, math.inf)
        changes = ((share + one.expected) / 2, (share - one.expected) / 2) if exact else None
        planned = Planned(one.room, one.spread, one.within, changes)
        yield {
            "hypothesis": one.name, "samples": clusters.n, "patients": clusters.k, "alpha": alpha,
            "power": planned.power(clusters, alpha), "needed": planned.needed(clusters, alpha, study.power),
        }  # fmt: skip


def weak(frozen: Frozen) -> list[str]:
    """A line for each primary hypothesis whose power is below the planned one."""
    study = frozen.study
    lines = []
    for one in frozen.power[: len(study.primary)]:
        if one["power"] < study.power:
            needed = "no number of samples" if one["needed"] is None else f"{one['needed']:,} samples"
            lines.append(f"{one['hypothesis']}: power {one['power']:.2f} with {one['samples']:,} samples is below"
                         f" {study.power:g}; {needed} would reach it")  # fmt: skip
    return lines


def freeze(path: Path, amend: str | None) -> Frozen:
    """Freeze the plan of a study, once; again only as an amendment. The log's line is written last: a form that it does
    not name is not frozen. Raises ConfigError; then nothing is frozen."""
    if amend is not None and amend != without_surrogates(amend):
        raise ConfigError(f"--amend {amend!r} is not UTF-8: state the reason in UTF-8")
    plan = plan_of(path)
    if lines := weak(plan):
        raise ConfigError("\n".join(f"{path}: {line}; or lower the key power" for line in lines))
    facts = {name: value for name, value in vars(plan).items() if name in Frozen.WRITTEN}
    text = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    digest, target = sha256(text.encode()).hexdigest(), place_of(path)
    with disk.exclusive(path.parent):
        before = log.events(path, "frozen")
        if before and not (amend or "").strip():
            raise ConfigError(f"{path} was frozen at {before[-1]['time']}: an amendment needs --amend REASON")
        if amend is not None and not before:
            raise ConfigError(f"--amend: {path} is not frozen yet")
        stamped, der = stamp.request(plan.study.timestamp, digest) if plan.study.timestamp else (None, None)
        if plan.study.tag:
            _tag(path, plan.study.tag, digest)
        for place in (target, stamp.place_of(path)):
            kept = place.with_suffix(f".{len(before)}{place.suffix}")
            if before and place.exists() and not kept.exists():
                shutil.copyfile(place, kept)
        disk.replace(target, text)
        stamp.place_of(path).unlink(missing_ok=True)
        if der is not None:
            stamp.place_of(path).write_bytes(der)
        log.add(path, {"event": "frozen", "digest": digest, "reason": amend, "tag": plan.study.tag,
                       "stamped": stamped, "authority": plan.study.timestamp})  # fmt: skip
    return Frozen.read(path)


def _tag(path: Path, name: str, digest: str) -> None:
    """Make an annotated git tag that holds the digest. Raises ConfigError."""
    command = ["git", "-C", str(path.absolute().parent), "tag", "-a", name, "-m", f"{path.name}: SHA-256 {digest}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise ConfigError(f"tag: git cannot be run ({error.strerror}); nothing was frozen") from None
    if done.returncode:
        why = " ".join(done.stderr.split())
        raise ConfigError(f"tag: git made no tag {name!r} ({why}); nothing was frozen")
