"""A prompt set that is being refined: its versions, its folder and manifest, and edits by hand. The process may be
killed between any two files, so the manifest notes each version before and after it is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from components.core.errors import ConfigError
from components.core.usage import sum_usages
from components.files.folders import MANIFEST, NEW, MadeFolder
from components.prompts import PromptSet, place_of
from components.prompts.plain import WRITTEN, flaw_in, rules_of, slots
from components.text.structured import parse

_HEAD = (
    "# Templates that a model wrote: the names they are given and must show, and texts that readers of replies need.\n"
)
SETS = "history/sets"
WAITING, COMPLETE = "waiting", "complete"  # for edits by hand; for nothing more
_WRITING = "writing"


@dataclass(frozen=True)
class Version:
    """The files of a set: name -> text."""

    files: Mapping[str, str]

    @property
    def templates(self) -> dict[str, str]:
        """The files that are templates, by their names."""
        return {name.removesuffix(".jinja"): text for name, text in self.files.items() if name.endswith(".jinja")}

    def save(self, home: Path) -> Path:
        """A folder below ``home`` that holds the files and is named by their digest."""
        home.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=home, prefix=".making-") as made:
            fresh = Path(made) / "set"
            fresh.mkdir()
            self.write(fresh)
            folder = home / PromptSet(home.name, fresh).digest
            if not folder.is_dir():
                fresh.rename(folder)
        return folder

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")


def diff(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """What changed in texts by their names, as a unified diff; empty when nothing did."""
    lines: list[str] = []
    for name in sorted({*old, *new}):
        before, after = (of.get(name, "").strip().splitlines() for of in (old, new))
        lines += unified_diff(before, after, f"old/{name}.jinja", f"new/{name}.jinja", lineterm="")
    return "\n".join(lines) + "\n" if lines else ""


def read_version(folder: Path) -> Version:
    """The templates and data of a folder, as it is now. Raises ConfigError where what a model wrote is not plain."""
    PromptSet(folder.name, folder)
    files = sorted([*folder.glob("*.jinja"), *folder.glob("*.yaml")])
    return Version({path.name: path.read_text(encoding="utf-8") for path in files})


@dataclass(frozen=True)
class Rules:
    """What may become of the set ``base``: the templates that may be rewritten (``chosen``; None: all that can be),
    with the names that each must show and the texts it must hold."""

    base: str
    chosen: Sequence[str] | None = None

    @cached_property
    def first(self) -> Version:
        """The set as it is."""
        return read_version(place_of(self.base))

    @cached_property
    def of(self) -> Mapping[str, tuple[list[str], list[str]]]:
        """Template -> names, needs. Raises ConfigError for a template that is not there or not plain."""
        prompts = PromptSet(self.base, place_of(self.base))
        needs = prompts.data("needs") if prompts.holds("needs") else {}
        plain = {name: text for name in prompts.texts if (text := prompts.plain(name)) is not None}
        if not plain:
            why = "each decides something by what it is given ({% if ... %})"
            raise ConfigError(f"no template of the prompt set {self.base!r} can be rewritten: {why}")
        kept = plain if self.chosen is None else self.chosen
        if strange := next((name for name in kept if name not in plain), None):
            have = ", ".join(plain)
            raise ConfigError(f"stage.templates: {strange!r} of {self.base!r} cannot be rewritten; these can: {have}")
        return {name: (list(dict.fromkeys(slots(plain[name]))), list(needs.get(name, ()))) for name in kept}

    def texts(self, version: Version) -> dict[str, str]:
        """The templates that may be rewritten, as plain text."""
        with TemporaryDirectory() as made:
            version.write(Path(made))
            prompts = PromptSet(self.base, Path(made))
            return {name: prompts.plain(name) or prompts.texts[name] for name in self.of}

    def check(self, folder: Path) -> None:
        """Whether what a person made of the set has all templates, with no names but theirs. Raises ConfigError."""
        ours, theirs = PromptSet(self.base, place_of(self.base)), PromptSet(folder.name, folder)
        for path in folder.glob("*.yaml"):
            theirs.data(path.stem)
        for template in ours.texts:
            if template not in theirs.texts:
                raise ConfigError(f"prompt {theirs.source(template)}: the file is missing")
            given = ours.names(template)
            if strange := next(iter(sorted(theirs.names(template) - given)), None):
                lines = enumerate(theirs.texts[template].splitlines(), 1)
                line = next((f", line {n}" for n, text in lines if strange in text), "")
                have = ", ".join(sorted(given)) or "none"
                raise ConfigError(
                    f"prompt {theirs.source(template)}{line}: {strange!r} is not known here; known are {have}"
                )

    def flaw(self, template: str, text: str) -> str | None:
        """Why a text may not take a template's place."""
        return flaw_in(text, *self.of[template])

    def changed(self, version: Version, texts: Mapping[str, str]) -> Version:
        """The version with other texts, which are valid, and with the checks that apply to them from now on."""
        written = parse(version.files.get(f"{WRITTEN}.yaml", "")) or {}
        rules = rules_of(written) | {name: self.of[name] for name in texts}
        listed = {name: {"names": names, "needs": needs} for name, (names, needs) in sorted(rules.items())}
        files = {f"{name}.jinja": text.strip() + "\n" for name, text in texts.items()}
        return Version({**version.files, **files, f"{WRITTEN}.yaml": _HEAD + yaml.safe_dump(listed, sort_keys=False)})


@dataclass
class PromptHome:
    """``notes``: the manifest. ``seen``: the files of the set as they were read or written last. Raises ConfigError for
    a manifest, or a version that was kept, which is not as it was written."""

    home: MadeFolder
    notes: dict[str, Any]
    seen: Version | None = None

    def __post_init__(self) -> None:
        if self.notes and not {"rounds", "spent", "digest"} <= self.notes.keys():
            raise ConfigError(
                f"{self.home.path / MANIFEST} is damaged; delete {self.home.path}, or choose another stage.name"
            )

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Make the folder ours before anything else is in it."""
        self.notes |= {**facts, "rounds": [], "spent": {}, "status": NEW}
        self.home.note(self.notes)

    def save(self, version: Version) -> Path:
        """Keep a version permanently. Returns its folder, named by its digest."""
        return version.save(self.home.path / SETS)

    def settle(self) -> bool:
        """Finish an interrupted write. Returns whether the stage had to stop there."""
        if self.notes["status"] != _WRITING:
            return False
        self.write(self._kept(), self.notes["then"])
        return self.notes["status"] in (WAITING, COMPLETE)

    def version(self, rules: Rules) -> Version:
        """What to continue with: the version of the last round, or at a pause what a person made of it. Raises
        ConfigError for an edit that cannot be run, or that is made when none is expected."""
        kept = self.seen = self._kept()
        if self.notes["status"] != WAITING:
            self._refuse_edits()
            return kept
        self.seen = version = read_version(self.home.path)
        rules.check(self.home.path)
        if edited := diff(kept.templates, version.templates):
            self.home.write(f"history/edited-after-round-{len(self.notes['rounds'])}.diff", edited)
            self.notes["rounds"][-1]["edited"] = True
        return version

    def write(self, version: Version, status: str) -> None:
        """Write the set as it is. Raises ConfigError where it was edited meanwhile."""
        self._refuse_edits()
        self._note(version, _WRITING, {"then": status})
        for name, text in version.files.items():
            self.home.write(name, text)
        self.seen = version
        del self.notes["then"]
        self._note(version, status)

    def _note(self, version: Version, status: str, more: Mapping[str, str] | None = None) -> None:
        usage = sum_usages(self.notes["spent"].values())
        self.notes |= {"digest": self.save(version).name, "status": status, "usage": usage, **(more or {})}
        self.home.note(self.notes)

    def _kept(self) -> Version:
        folder = self.home.path / SETS / str(self.notes["digest"])
        if not folder.is_dir() or PromptSet(self.home.path.name, folder).digest != self.notes["digest"]:
            raise ConfigError(
                f"{folder} is not the version that was kept: it was changed or deleted; restore it, or delete"
                f" {self.home.path} to begin again"
            )
        return read_version(folder)

    def _refuse_edits(self) -> None:
        for name, text in self.seen.files.items() if self.seen is not None else ():
            path = self.home.path / name
            if path.is_file() and path.read_bytes().decode(errors="replace").replace("\r\n", "\n") != text:
                raise ConfigError(
                    f"{path} was edited while a round was running, and is not written over: at a pause the same"
                    " command continues with the edit, else give the file its old text, or delete it"
                )
