"""Which logs a path has, and the folder with a run folder of each."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from components.core.errors import ConfigError
from runner.logs.harness import is_harness, read_harness
from runner.logs.helm import STATS, read_helm
from runner.logs.imported import DAMAGED, Log, damage, write
from runner.logs.inspect_log import read_inspect

Reader: TypeAlias = Callable[[Path, str | None], Log]


def import_logs(new: Path, logs: Sequence[Path], cluster: str | None, dataset: str | None, privacy: str) -> Path:
    """Make a folder with a run folder of each log, in one move. Raises ConfigError."""
    if new.exists():
        raise ConfigError(f"import {new}: the folder exists; name a new one")
    found = [one for path in logs for one in _readers(path)]
    new.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=new.parent, prefix=".import-") as scratch:
        home = Path(scratch, new.name)
        for n, (path, reader) in enumerate(found):
            try:
                log = reader(path, cluster)
            except DAMAGED as error:
                raise damage(path, error) from None
            label = re.sub(r"[^\w.-]+", "_", f"{n + 1:02}-{log.task}-{log.model}")[:80]
            write(log, home / label, n, dataset or log.task, privacy)
        home.replace(new)
    return new


def _readers(path: Path) -> Iterator[tuple[Path, Reader]]:
    """The logs that a path means: a file, a run folder of HELM, or a folder with files. Raises ConfigError."""
    if (path / STATS).is_file():
        yield path, read_helm
        return
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    if samples := [file for file in files if is_harness(file)]:
        yield from ((file, read_harness) for file in samples)
    elif found := [file for file in files if file.suffix in (".eval", ".json") and file.is_file()]:
        yield from ((file, read_inspect) for file in found)
    else:
        what = "inspect_ai's .eval or .json, HELM's run folder, or lm-evaluation-harness's samples_TASK_DATE.jsonl"
        raise ConfigError(f"{path} is not a log that can be imported: {what}")
