"""The commands that pack and replay, in this process, and bundles with something changed."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runner import report
from runner.bundle import archive
from tests.in_process import command


@dataclass(frozen=True)
class Site:
    """A working folder."""

    home: Path

    def run(self, *words: str, code: int = 0, env: Mapping[str, str] | None = None) -> str:
        """Run ``python -m runner``; returns its output."""
        ended, out, err = command(self.home, words, env or {})
        assert ended == code, out + err
        return out + err

    def pack(self, name: str, *words: str, target: str = "") -> tuple[int, str]:
        """``python -m runner.report bundle NAME.zip NAME``; exit code and output."""
        output = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(output):
            patch.chdir(self.home)
            code = report.main(["bundle", target or f"{name}.zip", name, *words])
        return code, output.getvalue()

    def bundle(self, name: str) -> Path:
        """Where a bundle is."""
        return self.home / f"{name}.zip"


def members(path: Path) -> dict[str, bytes]:
    """The members of a bundle."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(path: Path, target: Path, member: str, change: Callable[[bytes], bytes]) -> Path:
    """A copy of a bundle with one member changed and its digest list unchanged."""
    contents = members(path)
    (name,) = [name for name in contents if name.endswith(member)]
    fresh = change(contents[name])
    assert fresh != contents[name]
    return zipped(target, contents | {name: fresh})


def forged(path: Path, target: Path, change: Callable[[dict[str, bytes], dict[str, Any]], None]) -> Path:
    """A changed bundle with a consistent digest list. ``change`` gets the members and the list's head."""
    contents = members(path)
    head = json.loads(contents.pop("bundle.json"))
    head = {key: value for key, value in head.items() if key not in ("digest", "members", "schema")}
    change(contents, head)
    archive.write(target, head, contents)
    return target


def zipped(target: Path, contents: Mapping[str, bytes]) -> Path:
    """A zip of these members."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return target


def flipped(path: Path, target: Path, member: str) -> Path:
    """A copy with one bit flipped in the middle of a compressed member."""
    shutil.copy(path, target)
    with zipfile.ZipFile(path) as archive:
        (info,) = [info for info in archive.infolist() if info.filename.endswith(member)]
    raw = bytearray(target.read_bytes())
    raw[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 1
    target.write_bytes(raw)
    return target
