"""The choices of dataset: whether their files are there, and their class."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from runner.checkup.line import Line, that

_DATA = "CLINICAL_DATA_DIR"
_READ = f"${{oc.env:{_DATA}}}"


def data() -> list[Line]:
    """The folder of the data, and which choices of dataset have their files, with their class."""
    from runner.config.catalogue import Catalogue

    root = os.environ.get(_DATA, "")
    there = bool(root) and Path(root).is_dir()
    found = "is a folder" if there else "is no folder" if root else "not set"
    lines = [that(there, _DATA, found, f"export {_DATA}=/path/to/your/data, for data that are not shipped")]
    for one in Catalogue().choices("dataset").values():
        name, node, text = one.name, one.node, one.description
        privacy, path = node.get("privacy", "open"), node.get("path")
        if inner := _inner(node):
            lines.append(that(True, name, f"{privacy}; made of another, {inner} if none is named"))
            continue
        if path in (None, "???"):
            shipped = bool(node.get("shipped")) or "shipped" in text or "made by the project" in text
            lines.append(that(shipped, name, f"{privacy}; {'shipped' if shipped else 'no path'}", "dataset.path=..."))
            continue
        named = [text for text in _texts(node) if text.startswith(_READ)]
        gone = [one for one in named if not there or not Path(one.replace(_READ, root)).exists()]
        lacks = f"no {gone[0].replace(_READ, f'${_DATA}')}" if gone else _lacking(_filled(node, root))
        lines.append(that(not lacks, name, f"{privacy}; {lacks or 'there'}", "or dataset.path=..."))
    return lines


def _filled(node: Any, root: str) -> Any:
    """A choice with the folder of the data in it; what it takes from other groups is left out."""
    if isinstance(node, Mapping):
        filled = {str(key): _filled(value, root) for key, value in node.items() if key != "defaults"}
        return {key: value for key, value in filled.items() if "${" not in str(value)}
    return node.replace(_READ, root) if isinstance(node, str) else node


def _inner(node: Mapping[str, Any]) -> str:
    """The dataset that a choice is made of; empty where it has rows of its own."""
    chosen = [base for base in node.get("defaults", ()) if isinstance(base, Mapping)]
    return next((str(name) for base in chosen for key, name in base.items() if str(key).startswith("/dataset@")), "")


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        for value in node.values():
            yield from _texts(value)
    elif isinstance(node, str):
        yield node


def _lacking(node: Mapping[str, Any]) -> str:
    """Why a dataset cannot be had; empty where it can, as far as its first sample tells.

    What works out a cache before the first sample is asked for its splits alone.
    """
    from components.core.protocols import Dataset
    from runner.config.build import part

    try:
        dataset = part(node, "dataset", (), Dataset)  # type: ignore[type-abstract]
        if dataset.splits and dataset.split not in dataset.splits:
            return f"no files of its split {dataset.split}"
        if "cache" not in node:
            next(iter(dataset.load(dataset.split)), None)
    except ConfigError as error:
        return str(error).partition("\n")[0]
    return ""
