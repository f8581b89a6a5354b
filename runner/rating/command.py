"""``python -m runner.report annotate`` and ``ratings``: episodes drawn for raters; results, also in a run's report."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any

from components.core.errors import ConfigError
from components.rubrics.rubric import Rubric, texts_of
from runner.config.catalogue import CONF
from runner.rating.harm import harm_of
from runner.rating.result import Result
from runner.rating.sheets import KEY, SHEETS, Item, Key, load, read_sheets, text_of, write_sheets, write_table
from runner.results.cells import interval, number, plain
from runner.results.ratings import FILE, SEVERITY, find_ratings
from runner.results.render.formats import markdown_of
from runner.results.rows import rows_of
from runner.results.runs import Run
from runner.results.sheets import Cell, Sheet, Value, columns
from runner.results.table import cluster_of
from runner.results.terminal import show_sheet
from runner.storage.records import read
from runner.storage.schema import Record
from runner.storage.stored import Unpacker
from runner.storage.texts import TextReader

READ, OPEN = "ratings.md", "disagreements.csv"
MODEL = "the model"
_NAMELESS = "[the model]"
_GRADED = "judged/"  # prefix of scores by a rubric: judged/RUBRIC/FIELD/CATEGORY


def annotate(
    runs: Sequence[Run], name: str, home: Path, *, n: int | None = None, raters: int = 2, seed: int = 0
) -> None:
    """Write sheets for raters below ``home``. Raises ConfigError."""
    if (n is not None and n < 1) or raters < 1:
        raise ConfigError(f"--n {n} --raters {raters}: at least one item and one rater are needed")
    rubric = load(CONF / "rubrics", name)
    requested = rubric.draw.n if n is None else n
    items = draw(runs, rubric, requested, seed)
    lines = [f"written to {path}" for path in write_sheets(items, rubric, home / "ratings" / rubric.name, raters, seed)]
    if len(items) < requested:
        lines.append(f"note: {len(items)} of {requested} items; this rubric finds no more")
    if classes := {str((run.manifest.get("dataset") or {}).get("privacy", "open")) for run in runs} - {"open"}:
        data = " and ".join(sorted(classes))
        lines.append(f"note: the sheets hold {data} data; the terms of use hold for raters too")
    lines.append(
        f"raters get what is in {SHEETS}/, and not {KEY}; read what they return: ratings FOLDER --sheets SHEET SHEET"
    )
    print(*lines, sep="\n")  # noqa: T201


def draw(runs: Sequence[Run], rubric: Rubric, n: int, seed: int) -> list[Item]:
    """Up to n items that the rubric draws, as many of each run and stratum as there are, in random order. Samples that
    are rated themselves count once, whatever runs have them. Raises ConfigError."""
    rng = Random(f"{seed}/{rubric.name}/draw")
    groups: dict[tuple[str, ...], list[tuple[Run, Record]]] = {}
    seen: set[str] = set()
    for row in rows_of(runs):
        eligible: list[tuple[Run, Record]] = []
        for run in row.runs:
            try:
                eligible += [(run, one) for one in run.records if rubric.draw.takes(one["stop"], one["scores"])]
            except ConfigError as error:
                raise ConfigError(f"{run.folder}: {error}") from None
        # in an order that does not depend on when they were finished
        for run, record in sorted(eligible, key=lambda pair: (pair[1]["sample_id"], pair[1]["epoch"])):
            group = [str(record["strata"].get(name, "")) for name in rubric.draw.by]
            if rubric.draw.of == "episodes":
                group.insert(0, row.label)
            elif record["sample_id"] in seen:
                continue
            seen.add(record["sample_id"])
            groups.setdefault(tuple(group), []).append((run, record))
    if not groups:
        raise ConfigError(f"nothing to rate: rubric {rubric.name!r} draws {rubric.draw.which}, and there are none here")
    shuffled = [rng.sample(groups[name], len(groups[name])) for name in sorted(groups)]
    rng.shuffle(shuffled)
    turns = [one for turn in zip_longest(*shuffled) for one in turn if one is not None]
    return _add_texts(rng.sample(turns[:n], min(n, len(turns))), rubric)


def _add_texts(draws: Sequence[tuple[Run, Record]], rubric: Rubric) -> list[Item]:
    """Raises ConfigError when the samples are not there any more, or others are."""
    from runner.job.stored import rebuild_experiment  # with all that composes a config

    items: dict[tuple[Path, str, int], Item] = {}
    for run in {run.folder: run for run, _ in draws}.values():
        experiment = rebuild_experiment(run.folder, run.cfg)
        was, now = (run.manifest.get("dataset") or {}).get("fingerprint"), experiment.dataset.fingerprint
        if was != now:
            raise ConfigError(f"{run.folder} was run on data with fingerprint {was!r}, which is now {now!r}")
        samples = {sample.problem.id: sample for sample in experiment.samples}
        unpacker = Unpacker(TextReader(run.folder))
        keys = {(one["sample_id"], one["epoch"]) for of, one in draws if of.folder == run.folder}
        for record in read(run.folder):
            if (key := (record["sample_id"], record["epoch"])) in keys:
                sample = samples[record["sample_id"]]
                texts = texts_of(rubric.shows, sample, unpacker.trajectory(record))
                texts = {title: remove_model_names(text, run) for title, text in texts.items()}
                images = [image.url for image in sample.problem.images if image.url.startswith("data:image/")]
                items[run.folder, *key] = Item(run, *key, cluster_of(record), texts, images)
    return [items[run.folder, one["sample_id"], one["epoch"]] for run, one in draws]


def remove_model_names(text: str, run: Run) -> str:
    """A text without the names of the run's models, with which an answer may begin."""
    names = {str(name) for name in (run.manifest.get("models") or {}).values()}
    names |= {name.rpartition("/")[2] for name in names}
    parts = "|".join(re.escape(name) for name in sorted(filter(None, names), key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{parts})(?!\w)", _NAMELESS, text, flags=re.IGNORECASE) if parts else text


def show_ratings(runs: Sequence[Run], sheets: Sequence[str], home: Path) -> None:
    """Read sheets back, print their results and store these next to the key. Raises ConfigError."""
    paths = [Path(sheet) for sheet in sheets]
    folder = _folder(home, paths)
    key = Key.read(folder / KEY)
    result = Result(key, read_sheets(paths, key), runs)
    numbers, tables = result.as_dict(), list(_tables(result))
    for table in tables:
        show_sheet(table)
    (folder / FILE).write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    parts = [part for one in tables for part in (f"## {one.title}", markdown_of(one), *map(plain, one.notes))]
    text = "\n\n".join([f"# {plain(key.rubric.question)}", *parts])
    (folder / READ).write_text(text + "\n", encoding="utf-8")
    written = [folder / READ, folder / FILE]
    if rows := result.disagreements():
        head = list(dict.fromkeys(name for row in rows for name in row))
        write_table(folder / OPEN, [*head, "decided"], [[*(row.get(name, "") for name in head), ""] for row in rows])
        written.append(folder / OPEN)
        values = f"{len(rows)} value{'s' if len(rows) > 1 else ''}"
        print(f"raters differ on {values}, for adjudication in {folder / OPEN}")  # noqa: T201
    print("written to", *written)  # noqa: T201


def _folder(home: Path, sheets: Sequence[Path]) -> Path:
    """The folder with the key of these sheets: the codes of a draw begin alike. Raises ConfigError."""
    folders = sorted(path.parent for path in (home / "ratings").glob(f"*/{KEY}"))
    if len(folders) == 1:
        return folders[0]
    for folder in folders:
        prefix = Key.read(folder / KEY).set
        if any(f"{prefix}-" in text_of(sheet) for sheet in sheets if sheet.is_file()):
            return folder
    have = ", ".join(map(str, folders)) or "none"
    raise ConfigError(f"no {KEY} of these sheets in {home / 'ratings'}/*/ (there are {have}); name another --out")


def _tables(result: Result) -> Iterator[Sheet]:
    """Shares, agreement of the raters, agreement of the model with each of them."""
    rubric, groups = result.key.rubric, result.groups
    graded = any(result.grades.values())
    rows: list[list[Cell]] = []
    for field, category in rubric.marks():
        shares = [*result.shares(field, category).values(), *([result.graded_share(field, category)] if graded else [])]
        rows.append([f"{field}/{category}", *(None if one is None else Value.of(one) for one in shares)])
    raters = f"{len(result.sheets)} rater{'s' if len(result.sheets) > 1 else ''}"
    notes = [f"{raters}, {len(result.key.items)} items; source of the categories: {rubric.source}"]
    if graded:
        notes.append(f"{MODEL}: a model's grades of those of the items that it graded, by the same rubric")
    if others := ", ".join(run.folder.name for run in result.otherwise):
        notes.append(f"left out: a model's grades of {others}, which are by another rubric of this name")
    if rubric.draw.by or len(groups) > 1:
        over = " and ".join([*(["runs"] if len(groups) > 1 else []), *rubric.draw.by])
        notes.append(f"drawn evenly over {over}: shares refer to the drawn items, not to all items")
    yield Sheet(f"{rubric.name}: share of items", columns("field", *groups, *([MODEL] if graded else [])), rows, notes)
    agreements = {f"of the raters ({one.kind})": of for of in [result.agreements()] for one in of.values()}
    judged = {
        f"of the model's grades with {plain(name)} (Cohen's kappa)": of
        for name, of in result.judge_agreements().items()
    }
    weighted = {"of the raters": result.weighted()} | {
        f"of the model's grades with {plain(name)}": of for name, of in result.judge_weighted().items()
    }
    judged |= {f"{who} (kappa with linear weights)": of for who, of in weighted.items() if of}
    for title, of in (agreements | judged).items():
        rows = [
            [name, one.n, one.share, Value(one.kappa, one.ci_low, one.ci_high, no_interval=one.no_interval or "")]
            for name, one in of.items()
        ]
        yield Sheet(f"agreement {title}", columns("field", ("items", "n"), "all agree", "kappa"), rows)
    if (harm := harm_of(result)) is not None:
        yield harm


def judge_lines(folder: Path, run: object, scores: Iterable[str]) -> list[str]:
    """A line per field that a model graded: its kappa with each rater of this run (``run``: its id), and theirs.
    ``scores``: names of those of the run. Raises ConfigError for ratings that cannot be read."""
    fields = dict.fromkeys(tuple(name.split("/")[1:3]) for name in scores if name.startswith(_GRADED))
    lines = []
    for rubric in dict.fromkeys(rubric for rubric, _ in fields):
        begin = f"{_GRADED}{rubric}"
        if (found := find_ratings(folder, run, rubric)) is None:
            left_out = " and left out of the metrics" if rubric == SEVERITY else ""
            what = f"a model's grades, not checked by people here{left_out}"
            lines.append(f"{begin}: {what}: runner.report annotate {rubric}")
            continue
        ratings = found[1]
        of_model = next(iter(ratings["judge"].values()))  # by field, or by its categories where several may be picked
        graded = [f"{field}/" for of, field in fields if of == rubric]
        for name in (name for field in graded for name in of_model if f"{name}/".startswith(field)):
            kappas = [f"{_kappa(of[name])} with {plain(rater)}" for rater, of in ratings["judge"].items()]
            if ratings["agreement"]:
                kappas.append(f"{_kappa(ratings['agreement'][name])} of raters with each other")
            lines.append(f"{begin}/{name}: kappa of the model {', '.join(kappas)}; {of_model[name]['n']} items")
    return lines


def _kappa(one: Mapping[str, Any]) -> str:
    return number(one["kappa"]) + (f" ({around})" if (around := interval(one)) else "")
