"""The gains of a sweep's methods over its baseline, next to the published ones that ``compare.gains`` names."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from runner.config.catalogue import CONF
from runner.results.publications.gains import Gains, GainTable, load_gains, tables_of
from runner.results.runs import Run
from runner.results.sheets import PERCENT, Cell, Column, Section, Sheet, Value
from runner.results.table import p_text, show_section
from runner.results.versus import is_one

FILE = "gains.json"


def section(runs: Sequence[Run]) -> Section | None:
    """A table per score that has published gains; None where the config names none."""
    published = _published(runs)
    return None if published is None else _section(published, tables_of(runs, published))


def show_gains(runs: Sequence[Run], home: Path) -> None:
    """Print the section; ``gains.json`` in ``home`` has the numbers."""
    if (published := _published(runs)) is None:
        return
    tables, found = tables_of(runs, published), dict[str, dict[str, Mapping[str, object]]]()
    show_section(_section(published, tables))
    for table in tables:
        found.setdefault(table.metric, {})[table.column.label] = table.as_dict()
    if found:
        (home / FILE).write_text(json.dumps(found, indent=1), encoding="utf-8")


def _published(runs: Sequence[Run]) -> Gains | None:
    name = runs[0].compare.get("gains") if runs else None
    return load_gains(name, CONF / "papers") if name else None


def _section(published: Gains, tables: Sequence[GainTable]) -> Section:
    intro = f"Published: {published.citation}; {published.what}"
    if not tables:
        intro = "compare.gains: no run is one of compare.baselines, or none has a score with published gains."
    return Section("gains", "Gains over the baseline", " ".join(intro.split()), [_sheet(one) for one in tables])


def _sheet(table: GainTable) -> Sheet:
    """A row per method and part; of a baseline its mean."""
    rows: list[list[Cell]] = []
    for row in table.grid.rows:
        for part in table.found:
            published = [one.text for one in table.printed if one.part == part and one.fits(row.first)]
            rows.append([row.label, part, *_cells(table, row.label, part), "; ".join(published)])
            if is_one(row, table.baselines):
                rows[-1][2] = table.mean(row.label, part).value
    columns = [
        Column("method"), Column("part"), Column("mean"), Column("gain", "", "higher", signed=True),
        Column("of the baseline", PERCENT, signed=True), Column("pairs"), Column("clusters"), Column("won:tied:lost"),
        Column("Holm p"), Column("published"),
    ]  # fmt: skip
    title = f"{table.metric} on {table.column.label}: gains over {' or '.join(table.baselines)}"
    return Sheet(title, columns, rows, keys=2)


def _cells(table: GainTable, label: str, part: str) -> list[Cell]:
    """A gain and its tests; empty of a row that is not compared."""
    if (one := table.found[part].get(label)) is None:
        return [None, None, None, None, None, "", ""]
    gain, relative = one.gain, table.relative(label, part)
    won = f"{gain.wins}:{gain.ties}:{gain.losses}"
    share = None if relative is None else 100 * relative
    return [None, Value.of(gain.metric), share, gain.metric.n, gain.clusters, won, p_text(gain.p_holm)]
