"""``python -m runner --info choices [GROUP ...]``: every choice of every group, with what its file says of itself."""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from components.core.errors import ConfigError
from runner.config.errors import nearest

_ROOM = 120
_APART = ("hydra", "papers", "rubrics", "settings")  # of the machinery, and data that are no choices


def choices(roots: Sequence[Path]) -> dict[str, dict[str, str]]:
    """Group -> choice -> its description: the first comment of the file. Earlier roots hide later ones."""
    found: dict[str, dict[str, str]] = {}
    for root in roots:
        for path in sorted(root.rglob("*.yaml")):
            group, _, name = path.relative_to(root).with_suffix("").as_posix().partition("/")
            if name and group not in _APART:
                found.setdefault(group, {}).setdefault(name, _described(path))
    return {group: dict(sorted(of.items())) for group, of in sorted(found.items())}


def _described(path: Path) -> str:
    """The comment lines at the head of a file, without the commands below them."""
    said = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("# @package"):
            continue
        if not line.startswith("# ") or line.startswith("#   "):
            break
        said.append(line[2:].strip())
    return " ".join(said)


def listing(roots: Sequence[Path], groups: Sequence[str]) -> Iterator[str]:
    """The lines to print. Raises ConfigError for a group that is not there."""
    known = choices(roots)
    if missing := [group for group in groups if group not in known]:
        raise ConfigError(f"--info choices: there is no group {missing[0]!r}; {nearest(missing[0], list(known))}")
    for group in groups or known:
        yield f"{group}"
        width = max(map(len, known[group]))
        for name, text in known[group].items():
            lines = textwrap.wrap(text, _ROOM - width - 4) or [""]
            yield f"  {name:{width}}  {lines[0]}"
            yield from (f"  {'':{width}}  {line}" for line in lines[1:])
        yield ""
