"""``python -m runner.report COMMAND FOLDER ...``: metrics, tables and reports of finished runs. No model is run.

A FOLDER is a run's or a sweep's: outputs/<name>/<time>.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.text.words import meant
from runner.config.catalogue import CONF
from runner.refresh import RefreshedRun, refresh
from runner.results.folders import folder_of, run_folders
from runner.results.merge import merge
from runner.results.processes import map_folders
from runner.results.publications import ledger
from runner.results.publications.paper import load
from runner.results.render.formats import comma
from runner.results.rows import read_metrics
from runner.results.runs import Run, config_of
from runner.results.sections import page, tools
from runner.results.sections.comparisons import names_in, show_methods
from runner.results.sections.episodes import show_episode
from runner.results.sections.forks import show_forks
from runner.results.sections.means import show_means
from runner.results.sections.papers import paper_section
from runner.results.sections.report import present, status_line
from runner.results.sections.scores import jobs_table
from runner.results.terminal import show_section, show_sheet
from runner.storage import manifest
from runner.storage.integrity import verify
from runner.storage.resume import quote_path
from runner.study.looks import note_look, note_merged
from runner.terminal.command import Parser, exit_code_of

_PROGRAM = "python -m runner.report"
_BLIND = ("verify", "bundle", "annotate", "merge")  # commands that show no results, or log themselves that they do
_ELSEWHERE = {"differences": "methods {}", "by stratum": "strata {}", "all tables": "table {} --all", "page": "page {}"}
Options = argparse.Namespace
Argument = tuple[str, dict[str, Any]]
Command = tuple[Callable[[Options], int | None], str, Sequence[Argument]]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Exit code 2 for one that is refused."""
    return exit_code_of(lambda: _run(sys.argv[1:] if argv is None else argv))


def _run(words: Sequence[str]) -> int | None:
    if "--show" in words or (words and words[0].startswith("-") and words[0] not in ("-h", "--help")):
        raise ConfigError(f"the command comes first: {_PROGRAM} COMMAND FOLDER ..., or episode SAMPLE FOLDER; --help")
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        near = "" if Path(words[0]).exists() else meant(words[0], COMMANDS)
        example = f"{_PROGRAM} table {' '.join(words[bool(near) :])}"
        raise ConfigError(f"{words[0]!r} is not a command; {near}tables: {example}")
    if not words or words[0] not in COMMANDS:
        parser = Parser(prog=_PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        listed = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
        for name, (_, about, _) in COMMANDS.items():
            listed.add_parser(name, help=about)
        parser.parse_args(words)  # which ends
    run, about, arguments = COMMANDS[words[0]]
    parser = Parser(prog=f"{_PROGRAM} {words[0]}", description=about)
    for argument, settings in arguments:
        parser.add_argument(argument, **settings)
    return run(parser.parse_args(words[1:], Options(command=words[0])))


def _folders(options: Options) -> list[Path]:
    folders = [folder for name in options.folders for folder in run_folders(Path(name))]
    if options.command not in _BLIND:
        note_look(folders)
    return folders


def _stored(options: Options) -> list[Run]:
    """The runs of the folders as they are."""
    return [Run.at(folder) for folder in _folders(options)]


def _runs(options: Options, steps: bool = False) -> list[Run]:
    """The runs of the folders, their metrics computed again; ``steps``: they are needed too. Raises ConfigError."""
    return [run for run, _ in map_folders(partial(refresh, steps=steps), _folders(options))]


def _home(runs: Sequence[Run], out: str | None = None) -> Path:
    """Where files of these runs go: the folder of the run, of the sweep that they share, or the current one."""
    return Path(out) if out is not None else folder_of(runs) or Path(".")


def _show_tables(folders: Sequence[Path], swept: bool = False, whole: bool = False) -> None:
    """Print a run, or a line of each of several and where to look (``whole``: each of them, then the tables over all);
    those of a whole sweep are also written to its folder."""
    found = list(map_folders(refresh, folders))
    runs = [run for run, _ in found]
    several = len(runs) > 1
    if several and (not show_forks(runs, whole) or whole):
        show_sheet(jobs_table(f"{len(runs)} runs", read_metrics(*runs)), single=not whole)
    for one in found if whole or not several else ():
        _show(one, whole)
    if several:
        home = _home(runs) if swept and all(run.manifest.get("sweep") for run in runs) else None
        show_methods(runs, home=home, most=None if whole else 0)
        show_means(runs, brief=not whole)
    if several and not whole:
        print(*(f"{run.folder}: {line}" for run, lines in found for line in lines), sep="\n")  # noqa: T201
        where = "FOLDER ..." if home is None else quote_path(home)
        for what, words in _ELSEWHERE.items():
            print(f"{what + ':':13}{_PROGRAM} {words.format(where)}")  # noqa: T201


def _section(name: str, options: Options) -> None:
    if (section := page.SECTIONS[name](_runs(options))) is None:
        raise ConfigError(f"{name}: these runs have nothing for this section ({_SECTIONS[name]})")
    show_section(section)


def _ledger(options: Options) -> None:
    runs = _runs(options)
    entries, home = ledger.ledger(runs), _home(runs, options.out) if runs or options.out else Path(".")
    section = ledger.section_of(entries)
    show_section(section if options.all else replace(section, parts=section.sheets[:1]))
    home.mkdir(parents=True, exist_ok=True)
    (home / ledger.FILE).write_text(comma(ledger.flatten(entries)), encoding="utf-8", newline="")
    _written(home / ledger.FILE)


def _tools(options: Options) -> None:
    runs = _runs(options)
    if (section := tools.section(runs)) is not None:
        show_section(section)
    _written(tools.write_shares(runs, _home(runs)))


def _page(options: Options) -> None:
    runs = _runs(options, steps=True)
    if (home := folder_of(runs) if options.out is None else Path(options.out)) is None:
        raise ConfigError("page: these runs have no common sweep folder; give the folder of their report: --out FOLDER")
    first, *others = page.write(runs, home)
    print(f"report: {first}, and {len(others)} tables and plots next to it")  # noqa: T201


def _written(*paths: Path) -> None:
    print("written to", *paths, sep=" " if len(paths) == 1 else "\n")  # noqa: T201


def _verify(options: Options) -> None:
    damaged = []
    for folder in _folders(options):
        try:
            print(verify(folder))  # noqa: T201
        except ConfigError as error:
            damaged.append(str(error))
    if damaged:
        raise ConfigError("\n".join(damaged))


def _rescore(options: Options) -> None:
    from runner.job.stored import replace_records, rescored_records

    folders = _folders(options)
    for folder in folders:
        replace_records(folder, rescored_records(folder, config_of(folder)))
    _show_tables(folders)


def _track(options: Options) -> int:
    from runner.tracking import enabled
    from runner.tracking.send import send_folder

    code = 0
    for folder in _folders(options):
        _show(refresh(folder))
        if not enabled(config := config_of(folder)):
            continue
        if url := send_folder(folder, config, manifest.read(folder).get("sweep")):
            print(f"MLflow:     {url}")  # noqa: T201
        else:
            code = 1
    return code


def _export(options: Options) -> None:
    from runner.job.stored import export
    from runner.logs.inspect_export import export_inspect

    if options.to == "inspect":
        _written(*map(export_inspect, _runs(options)))
        print("records hold no targets: that column of inspect view is empty")  # noqa: T201
    else:
        export(_runs(options))


def _bundle(options: Options) -> None:
    from runner.bundle import pack

    if Path(options.file).exists():
        raise ConfigError(f"bundle {options.file}: the file exists already; name another, or remove it")
    print(*pack(_folders(options), Path(options.file), options.with_data), sep="\n")  # noqa: T201


def _rate(options: Options) -> None:
    from runner.rating.command import annotate, show_ratings

    runs = _stored(options)
    home = _home(runs, options.out)
    if options.command == "ratings":
        show_ratings(runs, options.sheets, home)
    else:
        annotate(runs, options.rubric, home, n=options.n, raters=options.raters, seed=options.seed)


def _show(found: RefreshedRun, whole: bool = False) -> None:
    """Print a run's metrics; ``whole``: by strata too."""
    run, judge_lines = found
    name = run.folder.name if run.manifest.get("sweep") else run.manifest["name"]
    present(f"{name}: {status_line(run.manifest, len(run.table))}", run.manifest, run.summary, whole)
    print(*judge_lines, f"run folder: {run.folder}", sep="\n")  # noqa: T201
    if not whole:
        print(f"all values: {_PROGRAM} table {quote_path(run.folder)} --all")  # noqa: T201


def _argument(name: str, **options: Any) -> Argument:
    return name, options


_FOLDERS = _argument("folders", nargs="+", metavar="FOLDER", help="a run or sweep folder")
_OUT = _argument("--out", metavar="FOLDER", help="where the files go, by default the folder of the runs")
_SECTIONS = {  # without options; docs/guides/reports.md says more
    "leaderboard": "headline scores of every run, its cost and duration", "models": "one row per model",
    "forks": "recorded episodes that were continued: effects, the chance from each step; needs fork=RUN",
    "curves": "the settings that compare.curves names, each varied alone", "means": "means by groups, such as task",
    "per-record": "record by record (patient), the score that compare.per_record names",
    "comparisons": "paired differences between methods", "gains": "published differences next to ours (compare.gains)",
    "settings": "whatever the runs differ in: a table per field", "strata": "the first scores by every stratum",
    "samples": "the score that decides by sample, where runs disagree first",
    "repeated": "whether samples that were run several times succeed every time: pass^k and pass@k; needs epochs",
    "frontier": "cost of a question against the score that decides", "cards": "the datasets: samples, strata, lengths",
    "verifier": "how often the first proposal was not kept, step by step; needs runs with a verifier",
    "confidence": "how sure the agent was: risk and coverage, calibration, refusals; needs agent.confidence",
    "refusals": "what a condition took away against what the agent stated",
    "harm": "expected harm, the worst cases, groups of patients; needs scorer harm",
    "audit": "right and wrong answers by sound and unsound ways, with examples; needs scorer audit",
    "papers": "every publication in conf/papers that has values for these runs",
}  # fmt: skip
# Command -> its function, its help, its arguments. Sections without options have the same command.
COMMANDS: Mapping[str, Command] = {
    "table": (lambda options: _show_tables(_folders(options), len(options.folders) == 1, options.all),
              "metrics of each run; of several also methods, datasets and means by group", [
        _FOLDERS, _argument("--all", action="store_true", help="each run, also by stratum and with rare endings")]),
    **{name: (partial(_section, name), about, [_FOLDERS]) for name, about in _SECTIONS.items()},
    "methods": (lambda options: show_methods(_runs(options), names_in(options.baselines)),
                "scores by dataset, cost of a question, paired differences to the best baseline", [
        _FOLDERS, _argument("--baselines", metavar="A,B", help="compare with these agents or other choices")]),
    "paper": (lambda options: show_section(paper_section(load(CONF / "papers", options.name), _runs(options))),
              "the runs next to the published values of one publication", [
        _argument("name", metavar="NAME", help="a name in conf/papers, or a YAML"), _FOLDERS]),
    "ledger": (_ledger, "every published value with ours and a verdict: ledger.csv", [
        _argument("folders", nargs="*", metavar="FOLDER", help="a run or sweep folder"),
        _argument("--all", action="store_true", help="print every published table, not only the counts"), _OUT]),
    "tools": (_tools, "which tools were used, and tools.csv", [_FOLDERS]),
    "page": (_page, "report.html with all sections, and tables/ as CSV and LaTeX", [_FOLDERS, _OUT]),
    "episode": (lambda options: show_episode(_stored(options), options.sample, options.epoch, options.prompts),
                "one episode: messages, tool calls and observations", [
        _argument("sample", metavar="SAMPLE", help="its id, or the end of one if no other has it"), _FOLDERS,
        _argument("--epoch", type=int, metavar="N", help="by default the first"),
        _argument("--prompts", action="store_true", help="also the requests to the model")]),
    "verify": (_verify, "compare records, metrics, texts and config with the digests in the manifest", [_FOLDERS]),
    "rescore": (_rescore, "score the stored trajectories again; this reads the data", [_FOLDERS]),
    "track": (_track, "send the runs to MLflow again, under the same ids", [_FOLDERS]),
    "merge": (lambda options: _show_tables([note_merged(merge(_folders(options), Path(options.new)))]),
              "make one run folder of several shards", [_argument("new", metavar="NEW"), _FOLDERS]),
    "export": (_export, "episodes in the layout of their method's authors, export.jsonl, or of another tool", [
        _FOLDERS, _argument("--to", choices=["inspect"], help="inspect: export.eval, which inspect view opens")]),
    "bundle": (_bundle, "pack all that a replay elsewhere needs: docs/guides/bundles.md", [
        _argument("file", metavar="FILE.zip"), _FOLDERS,
        _argument("--with-data", action="store_true", help="also data and texts that are otherwise left out")]),
    "annotate": (_rate, "write blinded sheets for raters", [
        _argument("rubric", metavar="RUBRIC", help="a name in conf/rubrics"), _FOLDERS,
        _argument("--n", type=int, help="how many items, by default the rubric's number"),
        _argument("--raters", type=int, default=2, help="how many raters, by default 2"),
        _argument("--seed", type=int, default=0, help="of the sample and the orders, by default 0"), _OUT]),
    "ratings": (_rate, "read filled sheets: shares and agreement (kappa)", [
        _FOLDERS, _argument("--sheets", nargs="+", required=True, metavar="SHEET"), _OUT]),
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
