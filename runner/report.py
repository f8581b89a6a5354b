"""``python -m runner.report COMMAND FOLDER ...``: metrics, tables and reports of finished runs. No model is run.

A FOLDER is a run's or a sweep's: outputs/<name>/<time>.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from components.core.errors import ConfigError
from runner.results.kinds import kinds_of
from runner.results.metrics import as_json, summarise
from runner.results.runs import Run, config_of, measured, run_folders
from runner.results.sections.report import present, report, status_line
from runner.storage import manifest
from runner.storage.records import read
from runner.terminal.command import exit_code_of

_PROGRAM = "python -m runner.report"
_OLD = {  # flags of earlier versions -> the command that does this now
    "--rescore": "rescore FOLDER ...", "--track": "track FOLDER ...", "--merge": "merge NEW FOLDER ...",
    "--paper": "paper NAME FOLDER ...", "--ledger": "ledger [FOLDER ...]", "--tools": "tools FOLDER ...",
    "--verifier": "verifier FOLDER ...", "--show": "episode SAMPLE FOLDER ... [--epoch N] [--prompts]",
    "--epoch": "episode SAMPLE FOLDER ... --epoch N", "--prompts": "episode SAMPLE FOLDER ... --prompts",
    "--export": "export FOLDER ...", "--bundle": "bundle FILE.zip FOLDER ... [--with-data]",
    "--with-data": "bundle FILE.zip FOLDER ... --with-data", "--baselines": "methods FOLDER ... --baselines A,B",
    "--annotate": "annotate RUBRIC FOLDER ... [--n N] [--raters N] [--seed N] [--out FOLDER]",
    "--ratings": "ratings FOLDER ... --sheets SHEET ... [--out FOLDER]", "--page": "page FOLDER ... [--out FOLDER]",
}  # fmt: skip
Given = argparse.Namespace


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command. Exit code 2 for one that is refused."""
    return exit_code_of(lambda: _run(sys.argv[1:] if argv is None else argv))


def _run(words: Sequence[str]) -> None:
    parser = _parser()
    if words and words[0] not in (*_commands(), "-h", "--help"):
        flag = next((word.partition("=")[0] for word in words if word.partition("=")[0] in _OLD), None)
        if flag is not None:
            raise ConfigError(f"the flag {flag} is now a command: {_PROGRAM} {_OLD[flag]}")
        if not words[0].startswith("-"):
            raise ConfigError(f"{words[0]!r} is not a command of runner.report; tables: {_PROGRAM} table {words[0]}")
    given = parser.parse_args(words)
    given.run(given)


class _Parser(argparse.ArgumentParser):
    """A parser that refuses in one line."""

    def error(self, message: str) -> NoReturn:
        """Raise ConfigError."""
        raise ConfigError(f"{message}; {self.prog} --help lists what there is")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=_PROGRAM, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (run, about, arguments) in _commands().items():
        command = commands.add_parser(name, help=about, description=about)
        command.set_defaults(run=run)
        for words, options in arguments:
            command.add_argument(*words, **options)
    return parser


def _argument(*words: str, **options: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    return words, options


_FOLDERS = _argument("folders", nargs="+", metavar="FOLDER", help="a run or sweep folder")
_OUT = _argument("--out", metavar="FOLDER", help="where the files go, by default the folder of the runs")
Command = tuple[Callable[[Given], None], str, Sequence[tuple[tuple[str, ...], dict[str, Any]]]]


def _commands() -> dict[str, Command]:
    """Command -> what runs it, its help, its arguments. Sections without options have the same command."""
    from runner.results.sections.page import SECTIONS

    sections = {name: _section(name) for name in SECTIONS if name != "episodes"}
    return {
        "table": (_table, "metrics of each run; of several also methods, datasets and means by group", [_FOLDERS]),
        **{name: (run, f"the section {name!r} of the page", [_FOLDERS]) for name, run in sections.items()},
        "methods": (_methods, "scores by dataset, cost of a question, paired differences to the best baseline", [
            _FOLDERS, _argument("--baselines", metavar="A,B", help="agents to compare with: direct,cot")]),
        "paper": (_paper, "the runs next to the published values of one publication", [
            _argument("name", metavar="NAME", help="a name in conf/papers, or a YAML"), _FOLDERS]),
        "ledger": (_ledger, "every published value with ours and a verdict: ledger.csv", [
            _argument("folders", nargs="*", metavar="FOLDER", help="a run or sweep folder"), _OUT]),
        "tools": (_tools, "which tools were used, and tools.csv", [_FOLDERS]),
        "page": (_page, "report.html with all sections, and tables/ as CSV and LaTeX", [_FOLDERS, _OUT]),
        "episode": (_episode, "one episode: messages, tool calls and observations", [
            _argument("sample", metavar="SAMPLE"), _FOLDERS,
            _argument("--epoch", type=int, metavar="N", help="by default the first"),
            _argument("--prompts", action="store_true", help="also what the model was asked")]),
        "rescore": (_rescore, "score the stored trajectories again; this reads the data", [_FOLDERS]),
        "track": (_track, "send the runs to MLflow again, under the same ids", [_FOLDERS]),
        "merge": (_merge, "make one run folder of several shards", [_argument("new", metavar="NEW"), _FOLDERS]),
        "export": (_export, "episodes in the layout of their method's authors: export.jsonl", [_FOLDERS]),
        "bundle": (_bundle, "pack all that a replay elsewhere needs: docs/guides/bundles.md", [
            _argument("file", metavar="FILE.zip"), _FOLDERS,
            _argument("--with-data", action="store_true", help="also data and texts that stay here otherwise")]),
        "annotate": (_annotate, "write blinded sheets for raters", [
            _argument("rubric", metavar="RUBRIC", help="a name in conf/rubrics"), _FOLDERS,
            _argument("--n", type=int, help="how many items, by default the rubric's number"),
            _argument("--raters", type=int, default=2, help="how many raters, by default 2"),
            _argument("--seed", type=int, default=0, help="of the sample and the orders, by default 0"), _OUT]),
        "ratings": (_ratings, "read filled sheets: shares and agreement (kappa)", [
            _FOLDERS, _argument("--sheets", nargs="+", required=True, metavar="SHEET"), _OUT]),
    }  # fmt: skip


def _runs(given: Given) -> list[Run]:
    """The runs of the folders, their metrics computed again. Raises ConfigError."""
    folders = _folders(given)
    for folder in folders:
        refresh(folder)
    return [Run.at(folder) for folder in folders]


def _folders(given: Given) -> list[Path]:
    return [folder for name in given.folders for folder in run_folders(Path(name))]


def _home(runs: Sequence[Run], out: str | None = None) -> Path:
    """Where files of these runs go: the folder of the run, of the sweep that they share, or the current one."""
    if out is not None or len(runs) == 1:
        return runs[0].folder if out is None else Path(out)
    homes = {run.folder.resolve().parent for run in runs if run.notes.get("sweep")}
    return runs[0].folder.parent if len(homes) == 1 and all(run.notes.get("sweep") for run in runs) else Path(".")


def _table(given: Given) -> None:
    _show_tables(_folders(given), swept=len(given.folders) == 1)


def _show_tables(folders: Sequence[Path], swept: bool = False) -> None:
    """Print each run, then the tables over all; those of a whole sweep are also written to its folder."""
    from runner.results.sections.means import show_means
    from runner.results.sections.methods import show_methods

    for folder in folders:
        refresh(folder, show=True)
    if len(folders) > 1:
        runs = [Run.at(folder) for folder in folders]
        show_methods(runs, home=_home(runs) if swept and all(run.notes.get("sweep") for run in runs) else None)
        show_means(runs)


def _section(name: str) -> Callable[[Given], None]:
    """The command that prints a section."""

    def run(given: Given) -> None:
        from runner.results.sections.page import SECTIONS
        from runner.results.table import show_section

        if (found := SECTIONS[name](_runs(given))) is None:
            raise ConfigError(f"{name}: these runs have nothing for this section")
        show_section(found)

    return run


def _methods(given: Given) -> None:
    from runner.results.sections.methods import show_methods

    named = None if given.baselines is None else [one.strip() for one in given.baselines.split(",") if one.strip()]
    show_methods(_runs(given), named)


def _paper(given: Given) -> None:
    from runner.config.catalogue import CONF
    from runner.results.publications.paper import load
    from runner.results.sections.papers import paper_section
    from runner.results.table import show_section

    show_section(paper_section(load(CONF / "papers", given.name), _runs(given)))


def _ledger(given: Given) -> None:
    from runner.results.publications.ledger import ledger
    from runner.results.render.written import comma
    from runner.results.sections.ledger import FILE as LEDGER
    from runner.results.sections.ledger import flat, section_of
    from runner.results.table import show_section

    runs = _runs(given)
    entries, home = ledger(runs), _home(runs, given.out)
    show_section(section_of(entries))
    home.mkdir(parents=True, exist_ok=True)
    (home / LEDGER).write_text(comma(flat(entries)), encoding="utf-8", newline="")
    _written(home / LEDGER)


def _tools(given: Given) -> None:
    from runner.results.sections.tools import section, write_shares
    from runner.results.table import show_section

    runs = _runs(given)
    if (found := section(runs)) is not None:
        show_section(found)
    _written(write_shares(runs, _home(runs)))


def _page(given: Given) -> None:
    from runner.results.sections.page import home_of, write

    runs = _runs(given)
    page, *others = write(runs, home_of(runs, given.out))
    _written(*others, page)


def _episode(given: Given) -> None:
    from runner.results.sections.transcript import show_episode

    show_episode([Run.at(folder) for folder in _folders(given)], given.sample, given.epoch, given.prompts)


def _rescore(given: Given) -> None:
    from runner.job.stored import replace_records, rescored_records

    folders = _folders(given)
    for folder in folders:
        replace_records(folder, rescored_records(folder, config_of(folder)))
    _show_tables(folders)


def _track(given: Given) -> None:
    from runner import tracking

    for folder in _folders(given):
        refresh(folder, show=True)
        if url := tracking.track(folder, config_of(folder), sweep=manifest.read(folder).get("sweep")):
            print(f"MLflow:     {url}")  # noqa: T201


def _merge(given: Given) -> None:
    from runner.results.merge import merge

    _show_tables([merge(_folders(given), Path(given.new))])


def _export(given: Given) -> None:
    from runner.job.stored import export

    export(_runs(given))


def _bundle(given: Given) -> None:
    from runner.bundle import pack

    print(*pack(_folders(given), Path(given.file), given.with_data), sep="\n")  # noqa: T201


def _annotate(given: Given) -> None:
    from runner.rating.command import annotate

    runs = [Run.at(folder) for folder in _folders(given)]
    annotate(runs, given.rubric, _home(runs, given.out), n=given.n, raters=given.raters, seed=given.seed)


def _ratings(given: Given) -> None:
    from runner.rating.command import show_ratings

    runs = [Run.at(folder) for folder in _folders(given)]
    show_ratings(runs, given.sheets, _home(runs, given.out))


def _written(*paths: Path) -> None:
    print("written to", *paths, sep=" " if len(paths) == 1 else "\n")  # noqa: T201


def refresh(folder: Path, *, show: bool = False) -> None:
    """Compute metrics.json and report.md of a run again, and print them. Raises ConfigError."""
    from runner.rating.beside import beside

    notes = manifest.read(folder)
    if missing := {"name", "choices", "dataset", "status"} - notes.keys():
        path = folder / manifest.FILE
        raise ConfigError(f"{path} is not the manifest of a run: it lacks {', '.join(sorted(missing))}")
    records = measured(folder, read(folder))
    summary = summarise(records, notes.get("levels"), notes.get("by"), kinds_of(notes, records))
    (folder / "metrics.json").write_text(as_json(summary), encoding="utf-8")
    graded = beside(folder, summary["metrics"])
    text = report(notes, summary, None) + "".join(f"\n- {line}" for line in graded) + ("\n" if graded else "")
    (folder / "report.md").write_text(text, encoding="utf-8")
    if show:
        present(f"{notes['name']}: {status_line(notes)}", summary["metrics"])
        print(*graded, f"run folder: {folder}", sep="\n")  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
