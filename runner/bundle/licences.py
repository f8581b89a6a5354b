"""Whether a dataset's files may be passed on: their class says who may see them, their licence the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runner.config.choices import choices
from runner.config.roots import CONF

_OPEN = re.compile(r"\b(MIT|Apache-2\.0|BSD|CC0|CC BY(?:-SA)?(?! ?-?N[CD])|ODbL|public domain)\b")


def may_go_along(notes: Mapping[str, Any], privacy: str, said: bool) -> tuple[bool, str]:
    """Whether the data of a run may be in a bundle, and why. ``said``: the packer said so aloud.

    Data that are not open never go along; others where the comment at the head of their choice's YAML names a licence
    that lets everyone pass them on, and the command did not name other files for it.
    """
    if privacy != "open":
        return False, f"left out, they are {privacy}"
    if said:
        return True, "in the bundle, by --with-data"
    choice = str((notes.get("choices") or {}).get("dataset", ""))
    described = choices([CONF])["dataset"].get(choice, "")
    if any(str(key).startswith("dataset.") and str(key).endswith("path") for key in notes.get("varied") or ()):
        return False, "left out, the command named them and nobody knows their licence; --with-data if it allows it"
    if found := _OPEN.search(described):
        return True, f"in the bundle ({found[0]}): {described}"
    return False, "left out, the choice of the dataset names no licence that allows it; --with-data if yours does"
