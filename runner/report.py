"""``python -m runner.report FOLDER ...``: metrics, tables and reports of finished runs, without running a model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from runner.results.folders import config_of, run_folders
from runner.results.kinds import kinds_of
from runner.results.metrics import as_json, summarise
from runner.results.report import report, status_line
from runner.results.runs import Run, measured
from runner.results.table import present
from runner.storage import manifest
from runner.storage.records import FILE, RecordWriter, read
from runner.terminal.output import exit_code_of


def main(argv: Sequence[str] | None = None) -> int:
    """Report on run folders. Exit code 2 for a folder that is none."""
    return exit_code_of(lambda: _tell(_arguments(argv)))


def _tell(given: argparse.Namespace) -> None:
    """All that was asked for. Raises ConfigError."""
    others = (given.rescore, given.track, given.merge, given.paper, given.tools, given.verifier, given.export,
              given.page)  # fmt: skip
    if not given.folders and (not given.ledger or any((*others, given.show, given.baselines, given.bundle))):
        raise ConfigError("no FOLDER is given: outputs/<name>/<time>; only --ledger can do without")
    if given.show is not None and any((*others, given.baselines, given.ledger)):
        raise ConfigError("--show shows one episode and nothing else; give the other options without it")
    if given.show is None and (given.prompts or given.epoch is not None):
        raise ConfigError("--prompts and --epoch say how --show SAMPLE shows an episode, which is not asked for")
    folders = [folder for name in given.folders for folder in run_folders(Path(name))]
    if given.with_data and given.bundle is None:
        raise ConfigError("--with-data says what a bundle may hold, which is not asked for: --bundle FILE.zip")
    if given.bundle is not None:
        if given.show is not None or any((*others, given.baselines, given.ledger)):
            raise ConfigError("--bundle packs and does nothing else; give the other options without it")
        from runner.bundle import pack

        return print(*pack(folders, Path(given.bundle), given.with_data), sep="\n")  # noqa: T201
    if _rates(given):
        return _rate([Run.at(folder) for folder in folders], given)
    if given.merge:
        from runner.results.merge import merge

        folders = [merge(folders, Path(given.merge))]
    if given.show is not None:
        from runner.results.transcript import show_episode

        return show_episode([Run.at(folder) for folder in folders], given.show, given.epoch, given.prompts)
    views = any((given.paper, given.tools, given.verifier, given.export, given.baselines, given.page, given.ledger))
    for folder in folders:
        _report(folder, rescore=given.rescore, track=given.track, quiet=views)
    return _compare([Run.at(folder) for folder in folders], given, quiet=views)


def _rates(given: argparse.Namespace) -> bool:
    """Whether people are asked, or answered. Raises ConfigError for options that say how, without either."""
    if given.annotate is not None and given.ratings:
        raise ConfigError("--annotate writes sheets and --ratings reads filled ones; give one of the two")
    if given.annotate is None and (given.n, given.raters, given.seed) != (None, None, None):
        raise ConfigError("--n, --raters and --seed say what --annotate RUBRIC draws, which is not asked for")
    if (given.page or given.ledger) and (given.annotate is not None or given.ratings):
        raise ConfigError("--page and --ledger report, --annotate and --ratings are about sheets; give one of them")
    if given.annotate is None and not (given.ratings or given.page or given.ledger) and given.out is not None:
        asks = "--page, --ledger, --annotate, --ratings"
        raise ConfigError(f"--out says where page, ledger or sheets go, which are not asked for: {asks}")
    return given.annotate is not None or bool(given.ratings)


def _rate(runs: Sequence[Run], given: argparse.Namespace) -> None:
    """Sheets for raters, or what they say. Raises ConfigError."""
    from runner.rating.command import annotate, show_ratings

    home = _home(runs) if given.out is None else Path(given.out)
    if given.ratings:
        return show_ratings(runs, given.ratings, home)
    how = {"raters": 2 if given.raters is None else given.raters, "seed": given.seed or 0}
    return annotate(runs, given.annotate, home, n=given.n, **how)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m runner.report", description=__doc__)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="a run or sweep folder: outputs/<name>/<time>")
    parser.add_argument("--rescore", action="store_true", help="score the stored trajectories again (reads the data)")
    parser.add_argument("--track", action="store_true", help="send to MLflow again, under the same ids")
    parser.add_argument("--merge", metavar="NEW", help="make one run folder of several shards first")
    parser.add_argument("--paper", metavar="NAME", help="next to published values: a name in conf/papers, or a YAML")
    parser.add_argument(
        "--ledger", action="store_true", help="every published cell with ours and a verdict: ledger.csv"
    )
    parser.add_argument("--tools", action="store_true", help="which tools were used: table, tools.csv")
    parser.add_argument("--verifier", action="store_true", help="what checking every step changed")
    parser.add_argument("--show", metavar="SAMPLE", help="read one episode: what was said, called and observed")
    parser.add_argument("--epoch", type=int, help="with --show: which one, by default the first")
    parser.add_argument("--prompts", action="store_true", help="with --show: what was asked, too")
    parser.add_argument("--export", action="store_true", help="episodes in their method's own layout: export.jsonl")
    parser.add_argument("--bundle", metavar="FILE.zip", help="pack all that a replay elsewhere needs: docs/bundles.md")
    parser.add_argument("--with-data", action="store_true", help="with --bundle: data and texts that would stay here")
    parser.add_argument("--baselines", metavar="AGENTS", help="what a sweep's methods are held against: direct,cot")
    parser.add_argument("--annotate", metavar="RUBRIC", help="blinded sheets for raters: a name in conf/rubrics")
    parser.add_argument("--n", type=int, help="with --annotate: how many items, by default the rubric's number")
    parser.add_argument("--raters", type=int, help="with --annotate: how many raters, by default 2")
    parser.add_argument("--seed", type=int, help="with --annotate: of the draw and the orders, by default 0")
    parser.add_argument("--ratings", nargs="+", metavar="SHEET", help="read filled sheets: shares, agreement (kappa)")
    parser.add_argument("--page", action="store_true", help="report.html to look at, with tables/ as CSV and LaTeX")
    parser.add_argument("--out", metavar="FOLDER", help="where ratings/ or the page goes, by default the runs' folder")
    return parser.parse_args(argv)


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
    if given.ledger:
        from runner.results.ledger_table import show_ledger

        home = Path(given.out) if given.out else _home(runs)
        print("written to", show_ledger(runs, home))  # noqa: T201
    if given.page:
        from runner.results.page.book import home_of, write

        page, *others = write(runs, home_of(runs, given.out))
        print("written to", *others, page, sep="\n")  # noqa: T201
    if given.export:
        from runner.job.export import export

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
    from runner.rating.beside import beside

    cfg = config_of(folder)
    if rescore:
        from runner.job.rescore import rescored

        _rewrite(folder, rescored(folder, cfg))
    notes = manifest.read(folder)
    if missing := {"name", "choices", "dataset", "status"} - notes.keys():
        raise ConfigError(
            f"{folder / manifest.FILE} is not the manifest of a run: it lacks {', '.join(sorted(missing))}"
        )
    records = measured(folder, read(folder))
    summary = summarise(records, notes.get("levels"), notes.get("by"), kinds_of(notes, records))
    (folder / "metrics.json").write_text(as_json(summary), encoding="utf-8")
    graded = beside(folder, summary["metrics"])
    text = report(notes, summary, None) + "".join(f"\n- {line}" for line in graded) + ("\n" if graded else "")
    (folder / "report.md").write_text(text, encoding="utf-8")
    if not quiet:
        present(f"{notes['name']}: {status_line(notes)}", summary["metrics"])
        print(*graded, sep="\n", end="\n" if graded else "")  # noqa: T201
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
