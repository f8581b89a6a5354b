"""Whether a dataset's files may be passed on: their class says who may see them, their licence the rest."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.bundle.places import DATA, texts
from runner.config.catalogue import Catalogue

_OPEN = re.compile(r"\b(MIT|Apache-2\.0|BSD|CC0|CC BY(?:-SA)?(?! ?-?N[CD])|ODbL|public domain)\b")


def may_go_along(notes: Mapping[str, Any], privacy: str, said: bool, named: Mapping[str, Path]) -> tuple[bool, str]:
    """Whether the data of a run may be in a bundle, and why. ``said``: the packer said so aloud.

    Data that are not open never go along; others where the comment at the head of their choice's YAML names a licence
    that lets everyone pass them on, and ``named`` (key of the config -> path) are the files that it means: no command,
    experiment or choice of one's own put others in their place.
    """
    if privacy != "open":
        return False, f"left out, they are {privacy}"
    if said:
        return True, "in the bundle, by --with-data"
    choice = str((notes.get("choices") or {}).get("dataset", ""))
    ours = Catalogue().choices("dataset").get(choice)
    if ours is None or not (found := _OPEN.search(ours.description)):
        return False, "left out, the choice of the dataset names no licence that allows it; --with-data if yours does"
    if any(path != _meant(ours.node).get(key) for key, path in named.items()):
        return False, f"left out, they are others than {choice} means; --with-data if their licence allows it"
    return True, f"in the bundle ({found[0]}): {ours.description}"


def _meant(node: Mapping[str, Any]) -> dict[str, Path]:
    """Key -> path of what a choice of dataset reads on this machine."""
    root = os.environ.get(DATA, "")
    return {key: Path(text.replace(f"${{oc.env:{DATA}}}", root)) for key, text in texts(node, "dataset")}
