"""``python -m runner.logs NEW LOG ...``: run folders from logs of inspect_ai, HELM and lm-evaluation-harness.

A LOG is a file or a folder; NEW gets a run folder of each, which ``runner.report`` and ``runner.compare`` take. See
docs/guides/logs.md.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias, get_args

from components.core.errors import ConfigError
from components.core.types import Privacy
from runner.logs.harness import is_harness, read_harness
from runner.logs.helm import STATS, read_helm
from runner.logs.imported import Log, reading, write
from runner.logs.inspect_log import read_inspect
from runner.terminal.command import Parser, exit_code_of

Reader: TypeAlias = Callable[[Path, str | None], Log]


def main(argv: Sequence[str] | None = None) -> int:
    """Import logs. Exit code 2 for a file that is not a log."""
    parser = Parser(
        prog="python -m runner.logs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("new", type=Path, metavar="NEW", help="the new folder of the runs")
    parser.add_argument("logs", type=Path, nargs="+", metavar="LOG", help="a log's file or folder")
    parser.add_argument("--cluster", metavar="FIELD", help="field whose values are the clusters, such as patient")
    parser.add_argument("--dataset", metavar="NAME", help="default: the task; runs of one dataset are paired")
    parser.add_argument("--privacy", choices=[*get_args(Privacy), "unknown"], default="unknown", help="of the data")

    def run() -> None:
        options = parser.parse_args(argv)
        import_logs(options.new, options.logs, options.cluster, options.dataset, options.privacy)
        print(*sorted(options.new.iterdir()), sep="\n")  # noqa: T201
        print(f"tables:     python -m runner.report table {options.new}")  # noqa: T201

    return exit_code_of(run)


def import_logs(new: Path, logs: Sequence[Path], cluster: str | None, dataset: str | None, privacy: str) -> None:
    """Make a folder with a run folder of each log, in one move. Raises ConfigError."""
    if new.exists():
        raise ConfigError(f"import {new}: the folder exists; name a new one")
    found = [one for path in logs for one in _readers(path)]
    new.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=new.parent, prefix=".import-") as scratch:
        home = Path(scratch, new.name)
        for n, (path, reader) in enumerate(found):
            with reading(path):
                log = reader(path, cluster)
            label = re.sub(r"[^\w.-]+", "_", f"{n + 1:02}-{log.task}-{log.model}")[:80]
            write(log, home / label, n, dataset or log.task, privacy)
        home.replace(new)


def _readers(path: Path) -> Iterator[tuple[Path, Reader]]:
    """The logs that a path means: a file, a run folder of HELM, or a folder with files. Raises ConfigError."""
    if not path.exists():
        raise ConfigError(f"there is no file or folder {path}")
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


if __name__ == "__main__":
    sys.exit(main())
