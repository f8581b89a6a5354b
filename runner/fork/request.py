"""The request for a fork: the command line, and the interventions that a YAML of ``conf/forks`` lists."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from annotated_types import Ge

from components.core.errors import ConfigError
from components.text.words import meant
from runner.config.build import check
from runner.config.catalogue import CONF, read_named
from runner.config.changes import DATA
from runner.config.composed import resolve_choice
from runner.config.errors import nearest

CONTROL = "control"
AT = ("each", "first_error", "verifier_disagrees")
_COMMON = ("run", "budget.run")  # settings that all arms share
_SETTINGS = ("samples", "at", "draws", "arms", "lesson", "result")


@dataclass(frozen=True)
class Arm:
    """One intervention: words of a command line (``set``), a ``lesson`` that every later request has, and what tools
    returned last before the fork (``result``: name -> text). Without any of these it is the control."""

    set: Sequence[str] = ()
    lesson: str = ""
    result: Mapping[str, str] = field(default_factory=dict)

    @property
    def kinds(self) -> list[str]:
        """The kinds of changes: groups of the config, lesson, result."""
        groups = dict.fromkeys(word.lstrip("+").partition("=")[0].partition(".")[0] for word in self.set)
        return [*groups, *(["lesson"] if self.lesson else []), *(["result"] if self.result else [])]


@dataclass(frozen=True)
class Choices:
    """Which episodes are continued (``failed``, ``all`` or ids of samples), at which steps (``AT``, or a number from 1
    on), how often each, and with which interventions."""

    samples: str | Sequence[str] = "failed"
    at: str | int = "each"
    draws: Annotated[int, Ge(1)] = 4
    arms: Mapping[str, Arm] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (self.at in AT or (isinstance(self.at, int) and self.at >= 1)):
            near = meant(str(self.at), AT)
            raise ConfigError(
                f"fork.at={self.at}: {near}it should be {', '.join(AT)}, or the number of a step from 1 on"
            )
        if isinstance(self.samples, str) and self.samples not in ("failed", "all"):
            near = meant(self.samples, ("failed", "all"))
            raise ConfigError(f"fork.samples={self.samples}: {near}it should be failed, all, or a list of ids: [q1,q2]")
        if CONTROL in self.arms:
            raise ConfigError(f"fork.arms: {CONTROL!r} always exists; give your intervention another name")
        if empty := [name for name, arm in self.arms.items() if not arm.kinds]:
            raise ConfigError(f"fork.arms: {empty[0]!r} changes nothing: give it set, lesson or result")
        for word in (word for arm in self.arms.values() for word in arm.set):
            if (group := word.lstrip("+").partition("=")[0].partition(".")[0]) in DATA:
                raise ConfigError(f"{word}: a fork continues the episodes of a run, whose {group} cannot change")


@dataclass(frozen=True)
class Request:
    """What the command line names. ``common``: words for all arms."""

    run: Path
    choices: Choices
    common: Sequence[str] = ()
    folder: Path | None = None
    tracking: Mapping[str, Any] | None = None

    @classmethod
    def parse(cls, words: Sequence[str]) -> Self:
        """Read a command line. Raises ConfigError."""
        pairs, own, common = dict[str, Any](), list[str](), list[str]()
        for word in words:
            key, equals, value = word.partition("=")
            if word.startswith("-") or not equals:
                raise ConfigError(f"{word}: a fork takes settings only, such as fork.at=each or verifier=reflect")
            if key.startswith(("fork", "hydra.", "tracking")):
                if key in pairs:
                    raise ConfigError(f"{key} is given twice")
                if key == "fork" and not value:
                    raise ConfigError("fork= is empty: name the folder of a run, as in fork=outputs/first")
                pairs[key] = value if key in ("fork", "hydra.run.dir", "tracking") else _value(word, value)
            else:
                (common if key.lstrip("+").startswith(tuple(f"{name}." for name in _COMMON)) else own).append(word)
        if "fork" not in pairs:
            raise ConfigError(f"{next(iter(pairs))} needs fork=RUN: the folder of the run whose episodes are continued")
        run, folder = Path(pairs.pop("fork")), pairs.pop("hydra.run.dir", None)
        changes = {key.partition(".")[2]: pairs.pop(key) for key in list(pairs) if key.startswith("tracking.")}
        name = pairs.pop("tracking", None)
        tracking = None if name is None and not changes else resolve_choice("tracking", name or "mlflow", changes)
        result = {key.removeprefix("fork.result."): str(pairs.pop(key))
                  for key in list(pairs) if key.startswith("fork.result.")}  # fmt: skip
        given = {key.removeprefix("fork."): value for key, value in pairs.items()}
        if unknown := next((key for key in pairs if key.removeprefix("fork.") not in _SETTINGS), None):
            raise ConfigError(
                f"{unknown}: a fork has no such setting; {nearest(unknown, [f'fork.{s}' for s in _SETTINGS])}"
            )
        lesson, result = str(given.pop("lesson", "")), {**result, **given.pop("result", {})}
        values = load(CONF / "forks", str(given.pop("arms"))) if "arms" in given else {}
        arm = Arm(tuple(own), lesson, result)
        name = " ".join([*own, *(kind for kind in arm.kinds if kind in ("lesson", "result"))])
        arms = {**(values.get("arms") or {}), **({name: vars(arm)} if arm.kinds else {})}
        choices = check(Choices, {**values, **given, "arms": arms}, "fork")
        return cls(run, choices, common, folder and Path(folder), tracking)


def load(folder: Path, name: str) -> dict[str, Any]:
    """The interventions of this name in a folder, or of this path. Raises ConfigError."""
    path, values = read_named(folder, name, f"fork.arms={name} does not exist")
    if not isinstance(values, dict) or not isinstance(values.get("arms") or {}, dict):
        raise ConfigError(f"{path}: it should have arms: a mapping of names to set, lesson or result")
    return values


def _value(word: str, text: str) -> Any:
    """A value of the command line, in YAML."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"{word}: the value cannot be read; put a text in quotes") from None


def folder_name(name: str) -> str:
    """The folder of an intervention."""
    return re.sub(r"[^\w.=-]+", "_", name)[:80] or "_"
