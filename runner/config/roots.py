"""Folders of config files, known before anything is composed."""

from collections.abc import Sequence
from pathlib import Path

CONF = Path(__file__).resolve().parent.parent.parent / "conf"


def users_folders(words: Sequence[str]) -> list[Path]:
    """What ``--config-dir`` names on a command line."""
    folders = []
    for n, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in ("--config-dir", "-cd"):
            folders.append(value if equals else next(iter(words[n + 1 :]), ""))
    return [path for folder in folders if (path := Path(folder)).is_dir()]
