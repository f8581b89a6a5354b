"""The folder of a prompt set that is being refined: its versions, its manifest, and what a person edits in it.

A kill may come between any two files. So the manifest says that a version is to be written before it is, and once more
when it is; what broke off between is written again, and nothing that a stage wrote is taken for an edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.core.usage import summed
from components.files.made_folder import MANIFEST, NEW, MadeFolder
from components.prompts import PromptSet
from components.stages.prompt_versions import Rules, Version, diff, read_version

SETS = "history/sets"
WAITING, COMPLETE = "waiting", "complete"  # for edits by hand; for nothing more
_WRITING = "writing"


@dataclass
class PromptHome:
    """``notes``: the manifest. ``seen``: the files of the set as they were read or written last.

    Raises ConfigError for a manifest, or a version that was kept, which is not as it was written.
    """

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
        """Keep a version for good. Returns its folder, named by its digest."""
        return version.save(self.home.path / SETS)

    def settle(self) -> bool:
        """Finish a writing that broke off. Returns whether that is where the stage was to stop."""
        if self.notes["status"] != _WRITING:
            return False
        self.write(self._kept(), self.notes["then"])
        return self.notes["status"] in (WAITING, COMPLETE)

    def version(self, rules: Rules) -> Version:
        """What to go on with: the version of the last round, or at a pause what a person made of it.

        Raises ConfigError for an edit that cannot be played, or that is made when none is expected.
        """
        kept = self.seen = self._kept()
        if self.notes["status"] != WAITING:
            self._refuse_edits()
            return kept
        self.seen = version = read_version(self.home.path)
        rules.check(self.home.path)
        if edited := diff(kept.templates, version.templates):
            number = len(self.notes["rounds"])
            self.home.write(f"history/edited-after-round-{number}.diff", edited)
            self.notes["rounds"][-1]["edited"] = True
        return version

    def write(self, version: Version, status: str) -> None:
        """Write the set as it stands. Raises ConfigError where somebody edited it meanwhile."""
        self._refuse_edits()
        self._note(version, _WRITING, {"then": status})
        for name, text in version.files.items():
            self.home.write(name, text)
        self.seen = version
        del self.notes["then"]
        self._note(version, status)

    def _note(self, version: Version, status: str, more: Mapping[str, str] | None = None) -> None:
        usage = summed(self.notes["spent"].values())
        self.notes |= {"digest": self.save(version).name, "status": status, "usage": usage, **(more or {})}
        self.home.note(self.notes)

    def _kept(self) -> Version:
        folder = self.home.path / SETS / str(self.notes["digest"])
        if not folder.is_dir() or PromptSet(self.home.path.name, folder).digest != self.notes["digest"]:
            raise ConfigError(
                f"{folder} is not the version that was kept: somebody changed or deleted it; restore it, or delete"
                f" {self.home.path} to begin again"
            )
        return read_version(folder)

    def _refuse_edits(self) -> None:
        for name, text in self.seen.files.items() if self.seen is not None else ():
            path = self.home.path / name
            if path.is_file() and path.read_bytes().decode(errors="replace").replace("\r\n", "\n") != text:
                raise ConfigError(
                    f"{path} was edited while a round was being played, and is not written over: at a pause the same"
                    " command goes on with the edit, else give the file its old text, or delete it"
                )
