"""Where attacks take place: a backend and a user, in a process of its own that tests talk to."""

import atexit
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from components.ehr.columns import prepare
from components.ehr.metadata import metadata
from components.sandbox import kernel
from tests.components.sandbox.attacks.attack import Attack
from tests.components.sandbox.attacks.ground import DATABASE, lay

PROJECT = Path(__file__).parents[4]
NOBODY = 65534
STANDS = [(backend, user) for backend in ("namespaces", "bwrap", "landlock") for user in ("root", "user")]


class Stand:
    """The process, and the folder around it that holds what the cells are after."""

    def __init__(self, backend: str, user: str) -> None:
        self.backend, self.user = backend, user
        self.secret = f"gold-{secrets.token_hex(16)}"
        self.folder = Path(tempfile.mkdtemp(prefix="ground-"))
        (self.folder / "work").mkdir()
        (self.folder / "tmp").mkdir()
        shutil.copytree(_columns(), self.folder / "columns")
        self.errors = (self.folder.parent / f"{self.folder.name}.log").open("w+")
        environment = {
            "PATH": os.defpath, "HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "tmp"),
            "OPENAI_API_KEY": self.secret, "PYTHONPATH": str(PROJECT),
        }  # fmt: skip
        words = [sys.executable, "-m", "tests.components.sandbox.attacks.driver", str(self.folder), backend]
        if user == "user" and os.getuid() == 0:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
            words = ["unshare", "--mount", "--propagation", "private", "sh", "-euc", _as_nobody(), "sh", *words]
        self.folder.chmod(0o755)
        self._start = partial(
            subprocess.Popen, words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            cwd=self.folder / "work", env=environment,
        )  # fmt: skip
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        subprocess.run(["rm", "-rf", self.folder], check=False)  # as deep as it may be
        self.errors.close()
        os.unlink(self.errors.name)

    def end(self) -> None:
        """Kill the process; the next question starts another."""
        if self.process is not None:
            self.process.kill()
            with suppress(BrokenPipeError):
                self.process.communicate()
            Path(f"/dev/shm/wards-{self.process.pid}").unlink(missing_ok=True)
            self.process = None

    def ask(self, **request: Any) -> Any:
        """One request; fails where the process has died."""
        if self.process is None:
            self.process = self._start()
        assert self.process.stdin and self.process.stdout
        answer = ""
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        if not answer:
            self.end()
            self.errors.seek(0)
            outcomes = self.errors.read()
            pytest.fail(f"the harness died: {outcomes[-3000:]}", pytrace=False)
        return json.loads(answer)

    def suffers(self, attacks: Mapping[str, Attack]) -> None:
        """Fail with every attack that is none: in plain Python it does not get what it is after."""
        tried = {name: attack for name, attack in attacks.items() if attack.bare in ("anyone", self.user)}
        confined, outcomes = self.ask(bare=[attack.request for attack in tried.values()])
        if confined:
            pytest.skip("this machine itself holds processes back")
        wrong = [f"[{name}] {one}" for name, one in zip(tried, outcomes, strict=True) if one != "ok"]
        if wrong:
            pytest.fail("\n".join(wrong), pytrace=False)


@cache
def _columns() -> Path:
    """The tables of the ground's database in columns, made once for all stands."""
    folder = Path(tempfile.mkdtemp(prefix="columns-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    prepare(lay(folder), metadata(DATABASE), folder / "columns")
    return folder / "columns"


def _as_nobody() -> str:
    """A shell line that starts its arguments as an ordinary user, who can reach the interpreter and the project.

    Folders of root on the way to them are covered, in a view of the files of its own, by one that all may enter.
    """
    needed = {Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), PROJECT}
    shut = {path: [above for above in reversed(path.parents) if not above.stat().st_mode & 0o001] for path in needed}
    moved = [(f"$s/{number}", path) for number, path in enumerate(path for path in needed if shut[path])]
    lines = ["s=$(mktemp -d /tmp/stage-XXXXXX)"]
    lines += [f"mkdir {stage}; mount --rbind '{path}' {stage}" for stage, path in moved]
    lines += [f"mount -t tmpfs -o mode=755 tmpfs '{covered}'" for covered in {shut[path][0] for _, path in moved}]
    lines += [f"mkdir -p '{path}'; mount --rbind {stage} '{path}'; umount -l {stage}" for stage, path in moved]
    lines += [
        "find $s -depth -type d -exec rmdir {} +",
        f'exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups "$@"',
    ]
    return "\n".join(lines)


@cache
def lacking(backend: str, user: str) -> str:
    """Why this machine has no such stand; empty where it has.

    Asked of the machine, not of the sandbox: that it refuses a backend that could run here is not a reason to skip.
    """
    root = os.getuid() == 0
    if user == "root" and not root:
        return "needs root"
    as_user: tuple[str, ...] = ()
    if user == "user" and root:
        if not _works("unshare", "--mount", "true"):
            return "root may not change its view of the files here, so no other user can reach the interpreter"
        as_user = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        if not _works(*as_user, "true"):
            return "root may not become another user here"
    if backend in ("namespaces", "bwrap") and not _works(*as_user, "unshare", "-Urmpin", "--fork", "true"):
        return "no user namespaces here"
    if backend == "bwrap" and not shutil.which("bwrap", path=os.defpath):
        return "no bubblewrap here"
    if backend in ("bwrap", "landlock") and kernel.landlock_version() < kernel.LEAST_LANDLOCK:
        return f"no Landlock of version {kernel.LEAST_LANDLOCK} here"
    return ""


def _works(*words: str) -> bool:
    return (
        shutil.which(words[0]) is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0
    )
