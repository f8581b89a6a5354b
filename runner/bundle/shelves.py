"""Prompt sets in a bundle: ours by their names, one's own folders under their digests, with what they include."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from components import prompts

_HOME = Path(prompts.__file__).resolve().parent
_INCLUDED = re.compile(r"_shared/[\w./-]+\.jinja")
_FILES = ("*.jinja", "*.yaml")


def own_sets(names: Iterable[str]) -> set[str]:
    """The sets that are folders of the user's own."""
    return {name for name in names if (place := prompts.place_of(name)).parent.resolve() != _HOME and place.is_dir()}


def shelf(name: str) -> str:
    """Where in a bundle a set is."""
    return f"prompts/own-{prompts.load(name).digest}" if own_sets([name]) else f"prompts/{name}"


def prompt_files(names: Sequence[str]) -> dict[str, bytes | Path]:
    """Member -> file of the sets and of what they include."""
    found: dict[str, bytes | Path] = {}
    for name in names:
        folder = prompts.place_of(name)
        found |= {f"{shelf(name)}/{path.name}": path for pattern in _FILES for path in sorted(folder.glob(pattern))}
    unread = [path for path in found.values() if isinstance(path, Path)]
    while unread:
        for shared in _INCLUDED.findall(unread.pop().read_text(encoding="utf-8")):
            if f"prompts/{shared}" not in found and (_HOME / shared).is_file():
                found[f"prompts/{shared}"] = _HOME / shared
                unread.append(_HOME / shared)
    return found


def changed_here(bundle: Path) -> list[str]:
    """Members of our sets whose texts are not those of this installation."""
    found = []
    for path in sorted((bundle / "prompts").rglob("*")):
        name = path.relative_to(bundle / "prompts")
        if path.is_file() and not name.parts[0].startswith("own-"):
            ours = _HOME / name
            if not ours.is_file() or ours.read_bytes() != path.read_bytes():
                found.append(f"prompts/{name.as_posix()}")
    return found


def sources_of(member: str, bundle: Path, own: Mapping[str, str]) -> set[str]:
    """What messages say that they come from, where a file of a bundle's prompts is in them.

    ``own``: name in the bundle -> as the records call it.
    """
    named = (file.rpartition("/") for file in _naming(member.removeprefix("prompts/"), bundle))
    return {f"{own.get(home, home)}/{name}" for home, _, name in named}


def first_call(records: Iterable[Mapping[str, Any]], asked: Collection[str] | None = None) -> str:
    """The first call of the records, or the first that was ``asked`` with one of these sources; empty for none."""
    for record in sorted(records, key=lambda one: str((one["sample_id"], one["epoch"]))):
        for step in record["steps"]:
            if asked is None or any(message.get("source") in asked for message in step["asked"]):
                at = f"branch {step.get('branch')!r}, call {step.get('n')} ({step.get('purpose')})"
                return f"sample {record['sample_id']!r}, epoch {record['epoch']}, {at}"
    return ""


def _naming(file: str, bundle: Path) -> set[str]:
    """The file and the templates that include it, directly or not; of data beside templates all of the set."""
    folder, found, unread = bundle / "prompts", {file}, [file]
    texts = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*.jinja"))
    }
    while unread:
        one = unread.pop()
        beside = "" if one.endswith(".jinja") else one.rpartition("/")[0]
        naming = {name for name, text in texts.items() if one in text or (beside and name.startswith(f"{beside}/"))}
        unread += naming - found
        found |= naming
    return found
