"""YAML: the tables that ship with the project, and the configs of runs."""

from pathlib import Path
from typing import Any


def read_yaml(path: Path) -> Any:
    """What a file holds. Raises yaml.YAMLError."""
    return parsed(path.read_text(encoding="utf-8"))


_DEEPEST = 200  # libyaml builds what it reads by recursion: deeper texts end the process
_NESTS = ("[", "{", "- -", "? ?")


def parsed(text: str | bytes) -> Any:
    """What a text holds, read by libyaml where PyYAML has it: in a tenth of the time. Raises yaml.YAMLError."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    if sum(map(shown.count, _NESTS)) > _DEEPEST and _depth(shown, loader) > _DEEPEST:
        raise yaml.YAMLError(f"lists and mappings are nested more than {_DEEPEST} deep")
    return yaml.load(text, Loader=loader)


def _depth(text: str, loader: Any) -> int:
    """How deep a text nests, as far as it matters."""
    import yaml

    depth = deepest = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if (deepest := max(deepest, depth)) > _DEEPEST:
                break
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return deepest
