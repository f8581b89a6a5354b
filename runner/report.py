"""``python -m runner.report FOLDER ...``: metrics, table and report of finished runs, without running a model."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from components.errors import ConfigError
from runner import manifest
from runner.records import FILE, RecordWriter, read, slim
from runner.results.metrics import summarise
from runner.results.report import report, status_line
from runner.results.table import present


def main(argv: Sequence[str] | None = None) -> int:
    """Report on run folders. Exit code 2 for a folder that is none."""
    given = _arguments(argv)
    try:
        folders = [_checked(folder) for name in given.folders for folder in _runs(Path(name))]
        if given.merge:
            from runner.results.merge import merge

            folders = [merge(folders, Path(given.merge))]
        for folder in folders:
            _report(folder, rescore=given.rescore, track=given.track)
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m runner.report", description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="a run or sweep folder: outputs/<name>/<time>")
    parser.add_argument("--rescore", action="store_true", help="score the stored trajectories again (reads the data)")
    parser.add_argument("--track", action="store_true", help="send to MLflow again, under the same ids")
    parser.add_argument("--merge", metavar="NEW", help="make one run folder of several shards first")
    return parser.parse_args(argv)


def _runs(folder: Path) -> list[Path]:
    """The folder, or the runs of a sweep's folder."""
    if (folder / FILE).is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob(f"*/{FILE}")) or [folder]


def _checked(folder: Path) -> Path:
    for name in (FILE, manifest.FILE, "config.yaml"):
        if not (folder / name).is_file():
            raise ConfigError(f"{folder} is no run folder: it has no {name}")
    return folder


def _report(folder: Path, *, rescore: bool, track: bool) -> None:
    """Recompute and print; write metrics.json and report.md anew."""
    cfg: Mapping[str, Any] = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    if rescore:
        from runner.rescore import rescored

        _rewrite(folder, rescored(folder, cfg))
    notes = manifest.read(folder)
    records = [slim(record) for record in read(folder)]
    summary = summarise(records)
    (folder / "metrics.json").write_text(json.dumps(summary, indent=1), encoding="utf-8")
    (folder / "report.md").write_text(report(notes, summary, None), encoding="utf-8")
    present(f"{notes['name']}: {status_line(notes)}", summary["metrics"])
    print(f"run folder: {folder}")  # noqa: T201
    if track:
        from runner import tracking

        if url := tracking.track(folder, cfg, sweep=notes.get("sweep")):
            print(f"MLflow:     {url}")  # noqa: T201


def _rewrite(folder: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Put other records in the place of a folder's, in one move."""
    import orjson

    writer = RecordWriter(folder)
    fresh = folder / (FILE + ".tmp")
    with fresh.open("wb") as file:
        for record in records:
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    fresh.replace(folder / FILE)
    writer.close()


if __name__ == "__main__":
    sys.exit(main())
