"""``python -m runner.report FOLDER ...``: metrics, tables and reports of finished runs, without running a model."""

from __future__ import annotations

import argparse
import json
import os
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
from runner.results.rows import Run
from runner.results.table import present


def main(argv: Sequence[str] | None = None) -> int:
    """Report on run folders. Exit code 2 for a folder that is none."""
    try:
        _tell(_arguments(argv))
        sys.stdout.flush()
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except BrokenPipeError:  # whoever reads along has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _tell(given: argparse.Namespace) -> None:
    """All that was asked for. Raises ConfigError."""
    others = (given.rescore, given.track, given.merge, given.paper, given.tools, given.verifier, given.export)
    if given.show is not None and any((*others, given.baselines)):
        raise ConfigError("--show shows one episode and nothing else; give the other options without it")
    if given.show is None and (given.prompts or given.epoch is not None):
        raise ConfigError("--prompts and --epoch say how --show SAMPLE shows an episode, which is not asked for")
    folders = [_checked(folder) for name in given.folders for folder in _runs(Path(name))]
    if given.merge:
        from runner.results.merge import merge

        folders = [merge(folders, Path(given.merge))]
    if given.show is not None:
        from runner.results.transcript import show_episode

        return show_episode([Run.at(folder) for folder in folders], given.show, given.epoch, given.prompts)
    views = any((given.paper, given.tools, given.verifier, given.export, given.baselines))
    for folder in folders:
        _report(folder, rescore=given.rescore, track=given.track, quiet=views)
    return _compare([Run.at(folder) for folder in folders], given, quiet=views)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m runner.report", description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="a run or sweep folder: outputs/<name>/<time>")
    parser.add_argument("--rescore", action="store_true", help="score the stored trajectories again (reads the data)")
    parser.add_argument("--track", action="store_true", help="send to MLflow again, under the same ids")
    parser.add_argument("--merge", metavar="NEW", help="make one run folder of several shards first")
    parser.add_argument("--paper", metavar="NAME", help="beside what is in print: a name in conf/papers, or a YAML")
    parser.add_argument("--tools", action="store_true", help="which tools were used: table, tools.csv, tools.png")
    parser.add_argument("--verifier", action="store_true", help="what checking every step changed")
    parser.add_argument("--show", metavar="SAMPLE", help="read one episode: what was said, called and observed")
    parser.add_argument("--epoch", type=int, help="with --show: which one, by default the first")
    parser.add_argument("--prompts", action="store_true", help="with --show: what was asked, too")
    parser.add_argument("--export", action="store_true", help="episodes in their method's own layout: export.jsonl")
    parser.add_argument("--baselines", metavar="AGENTS", help="what a sweep's methods are held against: direct,cot")
    return parser.parse_args(argv)


def _runs(folder: Path) -> list[Path]:
    """The folder, or the runs of a sweep's folder."""
    if (folder / FILE).is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{FILE}"))
    return sorted(found, key=lambda one: str(manifest.read(one).get("start", ""))) or [folder]


def _checked(folder: Path) -> Path:
    for name in (FILE, manifest.FILE, "config.yaml"):
        if not (folder / name).is_file():
            raise ConfigError(f"{folder} is no run folder: it has no {name}")
    return folder


def _compare(runs: Sequence[Run], given: argparse.Namespace, *, quiet: bool) -> None:
    """What is said of several runs at once, and the views that were asked for. Raises ConfigError."""
    from runner.results.rows import rows_of

    if given.baselines is not None:
        from runner.results.compare import show_compare

        show_compare(runs, [name.strip() for name in given.baselines.split(",") if name.strip()])
    elif len(runs) > 1 and not quiet:
        from runner.results.compare import show_compare
        from runner.results.means import show_means

        swept = len(given.folders) == 1 and all(run.notes.get("sweep") for run in runs)
        show_compare(runs, home=_home(runs) if swept else None)
        show_means(rows_of([run for run in runs if run.levels or run.by]))
    if given.paper is not None:
        from runner.config.roots import CONF
        from runner.results.paper import load
        from runner.results.paper_table import show_paper

        show_paper(load(CONF / "papers", given.paper), runs)
    if given.tools:
        from runner.results.tools import show_tools

        print("written to", *show_tools(rows_of(runs), _home(runs)))  # noqa: T201
    if given.export:
        from runner.export import export

        export(runs)
    if given.verifier:
        from runner.results.verdicts import show_verdicts

        for row in rows_of(runs):
            show_verdicts(row)


def _home(runs: Sequence[Run]) -> Path:
    """Where files of these runs go: the run's folder, the folder of the sweep that they share, or the current one."""
    if len(runs) == 1:
        return runs[0].folder
    homes = {run.folder.resolve().parent for run in runs if run.notes.get("sweep")}
    return runs[0].folder.parent if len(homes) == 1 and all(run.notes.get("sweep") for run in runs) else Path(".")


def _report(folder: Path, *, rescore: bool, track: bool, quiet: bool = False) -> None:
    """Recompute and print, unless ``quiet``; write metrics.json and report.md anew."""
    cfg: Mapping[str, Any] = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    if rescore:
        from runner.rescore import rescored

        _rewrite(folder, rescored(folder, cfg))
    notes = manifest.read(folder)
    records = [slim(record) for record in read(folder)]
    summary = summarise(records, notes.get("levels"), notes.get("by"), notes.get("counts") or ())
    (folder / "metrics.json").write_text(json.dumps(summary, indent=1), encoding="utf-8")
    (folder / "report.md").write_text(report(notes, summary, None), encoding="utf-8")
    if not quiet:
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
