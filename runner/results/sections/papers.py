"""Runs next to published values: per task, per group, in total, and all rows together."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from runner.config.catalogue import CONF
from runner.results.kinds import group_by
from runner.results.levels import shared_groups
from runner.results.publications.comparison import PublishedComparison, deviations, remarks
from runner.results.publications.paper import TOTAL, Paper, Published, load
from runner.results.rows import rows, rows_of
from runner.results.runs import Run
from runner.results.sheets import Cell, Column, Section, Sheet, Value, columns

_INTRO = (
    "Published means and totals are computed from the values per task. Lines below a table list the deviations from "
    "the published setting."
)
_SHARED = f"{TOTAL} of what all columns share"


def section(runs: Sequence[Run]) -> Section | None:
    """The tables of every publication in ``conf/papers`` that has values for these runs; None where none has."""
    known = [load(CONF, str(path)) for path in sorted((CONF / "papers").glob("*.yaml"))]
    sheets = [sheet for paper in known for sheet in sheets_of(paper, runs)]
    return Section("papers", "Next to published values", _INTRO, sheets) if sheets else None


def paper_section(paper: Paper, runs: Sequence[Run]) -> Section:
    """The tables of one publication, with rows that it has no values for."""
    found = [PublishedComparison.of(paper, row) for row in rows_of(runs, by_dataset=paper.by_dataset)]
    if paper.single:
        found = [one for one in found if one.published] or found
    return Section("papers", "Next to published values", _INTRO, _sheets(found))


def sheets_of(paper: Paper, runs: Sequence[Run]) -> list[Sheet]:
    """The tables of a publication; none where it has no part in common with these runs."""
    matching = [run for run in runs if paper.line(run) is not None and paper.metric in run.scores]
    if paper.by_dataset:
        known = rows_of(matching, by_dataset=True)
    else:  # the rows of the other sections, with their labels
        known = [row for row in rows(*runs) if any(run in matching for run in row.runs)] if matching else []
    found = []
    for one in (PublishedComparison.of(paper, row) for row in known):
        values = {path for other in one.published for path, value in other.values.items() if value is not None}
        found += [one] if any(path in values and mean.value is not None for path, mean in one.leaves.items()) else []
    return _sheets(found)


def _sheets(found: Sequence[PublishedComparison]) -> list[Sheet]:
    overview = [_overview(found)] if len(found) > 1 and not found[0].paper.single else []
    return [*overview, _parts(found)] if found else []


def _parts(found: Sequence[PublishedComparison]) -> Sheet:
    """Every row and its published ones, part by part, with the deviations below."""
    paper, unit = found[0].paper, found[0].paper.unit()
    backbones = list(dict.fromkeys(one.backbone for compared in found for one in compared.published))
    body: list[list[Cell]] = [line for compared in found for line in _lines(compared, backbones)]
    theirs = (Column(f"{name}, published", unit, "higher") for name in backbones)
    heads = columns("run", "part", ("this run", unit, "higher"), "samples", *theirs)
    known = [(one.row.label, one.published[0].method if one.published else "no published counterpart") for one in found]
    methods = dict.fromkeys(f"{label}: {method}" for label, method in known)
    notes = [f"Published: {paper.citation.strip()}; score {paper.metric}. Compared with: {', '.join(methods)}."]
    fewer, common = dict[str, list[str]](), dict[str, list[str]]()
    for compared in found:
        label, sizes = compared.row.label, Counter(path[0] for path in compared.paths)
        names = [] if paper.single else compared.common
        common[label] = [", ".join(names)] if names and len(names) < len(sizes) else []
        fewer[label] = []  # published means and totals over fewer parts than the table has
        for one in compared.published if not paper.single and not paper.flat else ():
            parts = [(name, mean.metric.n) for name, mean in one.outer.items()]
            short = [f"{name} mean {n} of {sizes[name]}" for name, n in parts if n < sizes[name]]
            n = len(_groups(one))
            short += [f"{TOTAL} {n} of {len(sizes)}"] if n < len(sizes) else []
            fewer[label] += [f"{one.label}: {', '.join(short)}"] if short else []
    notes += _share_lines("Fewer parts than there are", fewer)
    notes += _share_lines("Shared by all columns", common)
    notes += _share_lines("Deviation", {one.row.label: deviations(one) for one in found})
    notes += _share_lines("Of the published values", {one.row.label: remarks(one) for one in found})
    return Sheet(f"{paper.title}: part by part", heads, body, notes, keys=2)


def _share_lines(title: str, lines: Mapping[str, Sequence[str]]) -> list[str]:
    """Lines that rows share once, with the rows where not all have it."""
    whose = group_by([(line, label) for label, of in lines.items() for line in of], lambda pair: pair[0])
    labels = {line: ", ".join(label for _, label in of) for line, of in whose.items()}
    return [f"{title}{f' ({labels[line]})' * (len(of) < len(lines))}: {line}" for line, of in whose.items()]


def _lines(compared: PublishedComparison, backbones: Sequence[str]) -> Iterator[list[Cell]]:
    """A row's parts, means of them where they are grouped, the total, and the total over what all columns share."""
    paper, label = compared.paper, compared.row.label
    published = [next((one for one in compared.published if one.backbone == name), None) for name in backbones]
    groups = list(dict.fromkeys(path[0] for path in compared.paths))
    for group in groups:
        paths = [path for path in compared.paths if path[0] == group]
        for path in paths:
            values = [None if one is None else one.values.get((path[0], path[-1])) for one in published]
            name = path[-1] if paper.flat else "/".join(path)
            mine, count = (
                Value.of(compared.mean_of_part(path), paper.scale),
                compared.count(path).replace("- of", "0 of"),
            )
            yield [label, name, mine, count, *values]
        if not paper.flat:
            n = sum(path in compared.leaves and compared.leaves[path].value is not None for path in paths)
            means = [None if one is None else _mean(one, group) for one in published]
            mine = Value.of(compared.mean_of_part((group,)), paper.scale)
            yield [label, f"{group}, mean", mine, f"{n} of {len(paths)} tasks", *means]
    if paper.single:
        return
    of, totals = f"{len(_groups(compared))} of {len(groups)} parts", _totals(published)
    yield [label, TOTAL, Value.of(compared.mean_of_part(()), paper.scale), of, *totals]
    common = compared.common
    most = max(len(_groups(compared)), *(len(_groups(one)) for one in compared.published), 0)
    if common and most > len(common):
        mine = Value.of(compared.over(common), paper.scale)
        yield [label, _SHARED, mine, f"{len(common)} of {len(groups)} parts", *_totals(published, common)]


def _totals(published: Sequence[Published | None], groups: Sequence[str] | None = None) -> list[float | None]:
    return [None if one is None else one.total(groups).value for one in published]


def _overview(found: Sequence[PublishedComparison]) -> Sheet:
    """All rows and all published ones that they share a part with: means per group, the total of each over what it has,
    and over what all share."""
    paper = found[0].paper
    pairs = [(compared.outer.keys(), one) for compared in found for one in compared.published]
    published = {one.label: one for groups, one in pairs if not groups.isdisjoint(one.outer)}
    lines: list[PublishedComparison | Published] = [*found, *published.values()]
    known = {group for one in lines for group in one.outer}
    groups = list(dict.fromkeys(path[0] for compared in found for path in compared.paths if path[0] in known))
    common = shared_groups([one.outer for one in lines if _groups(one)])
    fewer = bool(common) and len(common) < len(groups)
    body: list[list[Cell]] = []
    for one in found:
        means = [*(one.mean_of_part((group,)) for group in groups), one.over(), *([one.over(common)] if fewer else [])]
        body.append([one.row.label, "ours", *(Value.of(mean, paper.scale) for mean in means)])
    for label, row in published.items():
        totals = [row.total().value, *([row.total(common).value] if fewer else [])]
        body.append([label, "published", *(_mean(row, group) for group in groups), *totals])
    names = [*groups, TOTAL, *([f"{TOTAL}, shared"] if fewer else [])]
    heads = columns("row", "whose", *(Column(name, paper.unit(), "higher") for name in names))
    notes = [f"Published: {paper.citation.strip()}; score {paper.metric}."]
    notes += [f"shared by all rows: {', '.join(common)}"] if fewer else []
    return Sheet(f"{paper.title}: all rows", heads, body, notes, keys=2)


def _mean(one: Published, group: str) -> float | None:
    return one.outer[group].value if group in one.outer else None


def _groups(one: PublishedComparison | Published) -> list[str]:
    return [name for name, part in one.outer.items() if part.value is not None]
