"""Prompt sets in a bundle: ours by their names, custom folders by their digests, with the templates they include."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from components import prompts
from runner.storage.schema import Record

_HOME = Path(prompts.__file__).resolve().parent
_INCLUDED = re.compile(r"_shared/[\w./-]+\.jinja")


def is_custom(name: str) -> bool:
    """Whether a set is a folder of the user's own."""
    return (place := prompts.place_of(name)).parent.resolve() != _HOME and place.is_dir()


def packed_name(name: str) -> str:
    """What a set is called in a bundle, below its prompts."""
    return f"own-{prompts.load(name).digest}" if is_custom(name) else name


def prompt_files(names: Sequence[str]) -> dict[str, bytes | Path]:
    """Member -> file of the sets and of what they include."""
    found: dict[str, bytes | Path] = {}
    unread: list[Path] = []
    for name in names:
        folder = prompts.place_of(name)
        unread += (paths := [*sorted(folder.glob("*.jinja")), *sorted(folder.glob("*.yaml"))])
        found |= {f"prompts/{packed_name(name)}/{path.name}": path for path in paths}
    while unread:
        for shared in _INCLUDED.findall(unread.pop().read_text(encoding="utf-8")):
            if f"prompts/{shared}" not in found and (_HOME / shared).is_file():
                found[f"prompts/{shared}"] = _HOME / shared
                unread.append(_HOME / shared)
    return found


def changed_prompts(bundle: Path) -> list[str]:
    """Members of our sets whose texts are not those of this installation."""
    changed = []
    for path in sorted((bundle / "prompts").rglob("*")):
        name = path.relative_to(bundle / "prompts")
        if path.is_file() and not name.parts[0].startswith("own-"):
            ours = _HOME / name
            if not ours.is_file() or ours.read_bytes() != path.read_bytes():
                changed.append(f"prompts/{name.as_posix()}")
    return changed


def sources_of(member: str, bundle: Path, own: Mapping[str, str]) -> set[str]:
    """The message sources that use a file of a bundle's prompts. ``own``: name in the bundle -> in the records."""
    named = (file.rpartition("/") for file in _including(member.removeprefix("prompts/"), bundle))
    return {f"{own.get(home, home)}/{name}" for home, _, name in named}


def _including(file: str, bundle: Path) -> set[str]:
    """The file and the templates that include it, directly or not; of data next to templates all of the set."""
    folder, found, unread = bundle / "prompts", {file}, [file]
    texts = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*.jinja"))
    }
    while unread:
        one = unread.pop()
        home = "" if one.endswith(".jinja") else one.rpartition("/")[0]
        including = {name for name, text in texts.items() if one in text or (home and name.startswith(f"{home}/"))}
        unread += including - found
        found |= including
    return found


def first_call(records: Iterable[Record], sources: Collection[str] | None = None) -> str:
    """The first call of the records, or the first with a message of these ``sources``; empty for none."""
    for record in sorted(records, key=lambda one: str((one["sample_id"], one["epoch"]))):
        for step in record["steps"]:
            if sources is None or any(message.get("source") in sources for message in step["asked"]):
                at = f"branch {step.get('branch')!r}, call {step.get('n')} ({step.get('purpose')})"
                return f"sample {record['sample_id']!r}, epoch {record['epoch']}, {at}"
    return ""
