"""Freezing a study: every planned run is composed and checked, its power computed, and all of it written."""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.core.types import Sample
from components.text.structured import read_yaml
from runner.config.errors import nearest
from runner.experiment.experiment import Experiment, facts_of
from runner.job.prepare import prepare_words
from runner.protocol import stamp
from runner.results.claims import LOOK, Clusters, Planned
from runner.results.kinds import Kinds, better, kind_of
from runner.results.table import OWN
from runner.storage import disk, manifest
from runner.storage.schema import Manifest
from runner.study import log
from runner.study.frozen import Frozen, code_digest, place_of, planned_of
from runner.study.plan import Hypothesis, Study, read


def plan_of(path: Path) -> Frozen:
    """What would be frozen of a study now. Raises ConfigError for one that cannot be run as it says."""
    study, file = read(path)
    runs, patients, allow, kinds = list[dict[str, Any]](), list[str](), set[str](), dict[str, Any]()
    strata = list[Mapping[str, str]]()
    for seed in study.seeds:
        for arm in study.arms:
            where = f"{path}: {arm}, seed {seed}"
            experiment = _experiment(study, arm, seed, where)
            facts = facts_of(experiment)
            _check(study, arm, facts, where)
            found = planned_of(experiment.cfg, facts)
            same = next((one["planned"] for one in runs if one["seed"] == seed), found)
            if differing := [key for key in found if key.startswith("data.") and found[key] != same[key]]:
                raise ConfigError(f"{where}: its {differing[0]} is not that of the first arm: nothing could be paired")
            analysed = _analysed(study, experiment.samples, where)
            runs.append({"arm": arm, "seed": seed, "words": study.words(arm, seed),
                         "episodes": len(experiment.episodes), "planned": found})  # fmt: skip
            allow, kinds = allow | {*experiment.cfg["run"]["allow_targets"]}, kinds | facts["kinds"]
        patients += [one.cluster or one.problem.id for one in analysed]
        strata += [one.strata for one in analysed]
    samples = Clusters.of(patients)
    power = power_of(study, lambda name: samples.levelled(strata, facts["levels"].get(name, ())), kinds)
    code, packages = code_digest(sorted(allow)), sorted(allow)
    return Frozen(path, manifest.now(), file, read_yaml(path), code, packages, manifest.git_state(), runs, power)


def _experiment(study: Study, arm: str, seed: int, where: str) -> Experiment:
    """A planned run, built and checked. Raises ConfigError."""
    try:
        return prepare_words(study.words(arm, seed))
    except ConfigError as error:
        raise ConfigError("\n".join(f"{where}: {line}" for line in str(error).splitlines())) from None


def _check(study: Study, arm: str, facts: Manifest, where: str) -> None:
    """Raises ConfigError where the study says something else of a run than its settings do."""
    if facts["models"] != study.models:
        raise ConfigError(f"{where}: models: found {facts['models']}, the study states {dict(study.models)}")
    for one in study.hypotheses:
        if arm not in one.compare:
            continue
        if one.metric not in facts["kinds"] and one.metric not in OWN:
            known = nearest(one.metric, [*facts["kinds"], *OWN])
            raise ConfigError(f"{where}: {one.name}: no metric {one.metric!r}; {known}")
        if (way := better(one.metric, [facts])) and way != one.direction:
            raise ConfigError(f"{where}: {one.name}: direction: {one.metric} is better {way}, not {one.direction}")


def _analysed(study: Study, samples: Sequence[Sample], where: str) -> list[Sample]:
    """The samples that are not excluded. Raises ConfigError where they are not as many as planned."""
    kept = [s for s in samples if not any(one.holds(s.problem.id, s.strata) for one in study.exclusions)]
    if len(kept) != study.samples:
        excluded = f", of which {len(samples) - len(kept)} are excluded" if study.exclusions else ""
        text = f"{study.samples} are planned; its settings select {len(samples)}{excluded}"
        raise ConfigError(f"{where}: samples: {text}; set limit=N in common, or samples: {len(kept)}")
    for one in study.strata:
        if missing := [s.problem.id for s in kept if one not in s.strata]:
            raise ConfigError(f"{where}: strata: sample {missing[0]} has no {one!r}; {nearest(one, kept[0].strata)}")
    return kept


def power_of(study: Study, samples_of: Callable[[str], Clusters], kinds: Kinds) -> list[dict[str, Any]]:
    """The power of each hypothesis, tested at the strictest level that it may meet; ``samples_of`` a metric."""
    found = []
    for family in (study.primary, study.secondary):
        share = len(family) if study.multiplicity == "holm" else 1
        alpha = (study.alpha - LOOK * len(study.looks)) / max(1, share)
        for one in family:
            planned, samples = _planned(one, kinds), samples_of(one.metric)
            found.append({
                "hypothesis": one.name, "samples": samples.n, "patients": samples.k, "alpha": alpha,
                "power": planned.power(samples, alpha), "needed": planned.needed(samples, alpha, study.power),
            })  # fmt: skip
    return found


def _planned(one: Hypothesis, kinds: Kinds) -> Planned:
    exact = one.differ is not None and kind_of(one.metric, kinds) == "proportion" and one.bounds[0] == 0
    share = one.differ or 0.0
    changes = ((share + one.expected) / 2, (share - one.expected) / 2) if exact else None
    return Planned(one.room, one.spread, one.within, changes)


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
    """Write what is planned, once; again only as an amendment. Raises ConfigError: then nothing is frozen."""
    target = place_of(path)
    if target.exists() and not amend:
        raise ConfigError(f"{path} was frozen at {Frozen.read(path).time}: an amendment needs --amend REASON")
    if amend and not target.exists():
        raise ConfigError(f"--amend: {path} is not frozen yet")
    plan = plan_of(path)
    if lines := weak(plan):
        raise ConfigError("\n".join(f"{path}: {line}; or lower power: to state that it is less" for line in lines))
    facts = {name: value for name, value in vars(plan).items() if name in Frozen.WRITTEN}
    text = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    digest = sha256(text.encode()).hexdigest()
    token = stamp.request(plan.study.timestamp, digest) if plan.study.timestamp else None
    if plan.study.tag:
        _tag(path, plan.study.tag, digest)
    if amend:
        n = sum(event["event"] == "frozen" for event in log.events(path))
        target.rename(target.with_suffix(f".{n}.json"))
    disk.replace(target, text)
    if token is not None:
        stamp.place_of(path).write_bytes(token.der)
    log.add(path, {"event": "frozen", "digest": digest, "reason": amend, "tag": plan.study.tag,
                   "stamped": token and token.time, "authority": plan.study.timestamp})  # fmt: skip
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
