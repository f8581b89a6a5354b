"""What ``runner.protocol freeze`` wrote of a study, ``NAME.frozen.json`` next to its file, and how a run differs."""

import hashlib
import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from components.core.errors import ConfigError
from runner.storage.resume import differences_of, score_settings
from runner.storage.schema import Manifest, ProtocolFacts
from runner.study import log
from runner.study.plan import Study, read

_HOME = Path(__file__).resolve().parents[2]
_CODE = (".py", ".jinja")
_PLACES = ("path", "sqlite")  # where data lie: their fingerprint says what they are
_NAMED = 3  # deviations that a refusal names


@dataclass(frozen=True)
class Frozen:
    """A frozen study. ``content``: what its file said; ``file``: that file's SHA-256; ``code``: the digest of this
    program and of a user's ``packages``; ``runs``: arm, seed, words and everything that can change a result."""

    path: Path
    time: str
    file: str
    content: Mapping[str, Any]
    code: str
    packages: Sequence[str]
    git: Mapping[str, Any]
    runs: Sequence[Mapping[str, Any]]
    power: Sequence[Mapping[str, Any]] = ()
    digest: str = field(default="", compare=False)

    WRITTEN: ClassVar = ("time", "file", "content", "code", "packages", "git", "runs", "power")

    @classmethod
    def read(cls, study: Path) -> Self:
        """The frozen form of a study, as the log says that it was frozen. Raises ConfigError."""
        path, logged = place_of(study), log.events(study, "frozen")
        again = f"python -m runner.protocol freeze {study}{' --amend REASON' * bool(logged)}"
        raw = path.read_bytes() if path.exists() else b""
        if not raw and not logged:
            raise ConfigError(f"protocol={study} is not frozen: {again if study.exists() else 'there is no such file'}")
        if not logged or logged[-1]["digest"] != (digest := hashlib.sha256(raw).hexdigest()):
            was = f"is not what {log.file_of(study)} says was frozen"
            raise ConfigError(f"{path} {was}: restore it from a copy, or: {again}")
        return cls(study, **json.loads(raw), digest=digest)

    @cached_property
    def study(self) -> Study:
        """The frozen study."""
        return Study.of(self.content, str(place_of(self.path)))

    def changes(self) -> list[str]:
        """A line for the study's file and for the code, where it is not what it was."""
        now = {self.path: (self.file, read(self.path)[1]), "code": (self.code, code_digest(self.packages))}
        return [f"{what} was {old[:16]}, now is {new[:16]}" for what, (old, new) in now.items() if old != new]

    @property
    def episodes(self) -> dict[tuple[str, int], int]:
        """(arm, seed) -> how many episodes are planned."""
        return {(one["arm"], one["seed"]): one["episodes"] for one in self.runs}


def place_of(study: Path) -> Path:
    """The file of the frozen form."""
    return study.with_suffix(".frozen.json")


def with_own_journal(cfg: dict[str, Any]) -> dict[str, Any]:
    """A config whose calls are in a journal of its study, if there is one: replies from before the freeze must not be
    used."""
    if not cfg["protocol"] or cfg["run"]["journal"] is None:
        return cfg
    return {**cfg, "run": {**cfg["run"], "journal": str(Path(cfg["protocol"]).with_suffix(".journal"))}}


def planned_of(cfg: Mapping[str, Any], facts: Manifest) -> dict[str, str]:
    """Everything that can change a result: settings, budget, and what they led to (data, prompts, scorers, models)."""
    own = {f"budget.run.{key}": json.dumps(value) for key, value in cfg["budget"]["run"].items()}
    own["run.replay"] = json.dumps(cfg["run"]["replay"])
    own |= {key: text for key, text in score_settings(cfg).items() if key != "protocol"
            and not (key.startswith("dataset.") and key.rpartition(".")[2] in _PLACES)}  # fmt: skip
    found: dict[str, Any] = {f"data.{key}": facts["dataset"].get(key) for key in ("fingerprint", "split")}
    if facts["shard"] is None:  # of a part they follow from the limit and the seed
        found["data.ids"] = facts["dataset"]["ids"]
    for name in ("prompts", "scorers", "models", "identities"):
        found |= {f"{name}.{key}": value for key, value in facts[name].items()}
    return own | {key: json.dumps(value) for key, value in found.items()}


def code_digest(allow: Sequence[str]) -> str:
    """The digest of this program's code and prompts, and of the packages of a user that parts may come from."""
    specs = map(importlib.util.find_spec, allow)
    places = [Path(place) for spec in specs for place in (spec and spec.submodule_search_locations) or ()]
    return hashlib.sha256(_own_code() + b"".join(map(_code_of, places))).hexdigest()


@cache
def _own_code() -> bytes:
    """Of this program, which a process does not read again."""
    return _code_of(_HOME / "runner") + _code_of(_HOME / "components")


def _code_of(root: Path) -> bytes:
    """The name and the digest of every file of code or prompts below a folder."""
    paths = sorted(path for path in root.rglob("*") if path.suffix in _CODE)
    found = (f"{path.relative_to(root)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0" for path in paths)
    return "".join(found).encode()


def conform(cfg: Mapping[str, Any], facts: Manifest, seen: str = "") -> Manifest:
    """What a manifest says of the study that a config names: which planned run this is, and how it deviates, with a
    note. ``seen``: the digest of the log's line that a resumed run saw. Raises ConfigError where it deviates and no
    reason is given."""
    path, reason = Path(cfg["protocol"]), (cfg["run"]["deviation"] or "").strip()
    frozen = Frozen.read(path)
    now = planned_of(cfg, facts)
    planned = [one["planned"] for one in frozen.runs]
    differences = [differences_of(before, {"data.ids": before["data.ids"]} | now) for before in planned]
    differing = min(differences, key=len)
    one = frozen.runs[differences.index(differing)]
    changes = [*frozen.changes(), *differing]
    if changes and not reason:
        more = f" and {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
        raise ConfigError(
            f"protocol={path}: this run was not planned; the nearest is {one['arm']} with seed {one['seed']}: "
            f"{'; '.join(changes[:_NAMED])}{more}. Run it as planned ({' '.join(one['words'])}), or state the reason: "
            'run.deviation="reason"'
        )
    found: ProtocolFacts = {
        "study": str(path.absolute()), "frozen": frozen.digest, "arm": one["arm"], "seed": one["seed"],
        "planned": one["episodes"], "deviations": changes, "reason": reason if changes else None,
        "log": log.last(path, seen),
    }  # fmt: skip
    note = [f"deviates from {path} ({reason}): {'; '.join(changes)}"] if changes else []
    return {"protocol": found, "notes": [*facts["notes"], *note]}
