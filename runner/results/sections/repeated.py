"""Whether an agent succeeds every time: samples that were run several times (``epochs``).

pass^k: the chance that all of k runs of a sample succeed, C(c, k) / C(n, k) for c successes in n runs (Yao et al. 2024,
tau-bench, arXiv 2406.12045); pass@k: that at least one does, 1 - C(n - c, k) / C(n, k) (Chen et al. 2021, arXiv
2107.03374). Both are unbiased; at k = 1 they are the success rate.
"""

from collections.abc import Mapping, Sequence
from math import comb, isnan

from runner.results.arrays import Rows, np
from runner.results.intervals import mean_of
from runner.results.kinds import Scale
from runner.results.rows import headlines, read_metrics
from runner.results.runs import Run
from runner.results.sheets import Cell, Column, Section, Sheet, Value
from runner.results.table import Table

_MOST, _SCORES = 8, 4  # runs of a sample that are looked at together; scores


def repeated(runs: Sequence[Run]) -> Section | None:
    """A table for each of the first scores of 0 and 1; None where no sample was run twice."""
    found = [one for one in read_metrics(*runs) if int(one.run.manifest.get("epochs") or 1) > 1]
    sheets = []
    for score in headlines(found, _SCORES) if found else ():
        lines: list[list[Cell]] = []
        for one in found:
            table, samples = one.run.table, _samples(one.run.table, score)
            longest = min(max(map(len, samples.values()), default=0), _MOST)
            for name in ("pass^k", "pass@k") if longest > 1 and one.run.kinds.get(score) == "proportion" else ():
                means = (_mean(table, score, samples, k, name == "pass^k") for k in range(1, longest + 1))
                lines.append([one.label, name, *means])
        most = max(map(len, lines), default=2)
        heads = [Column("run"), Column("of k runs"), *(Column(f"k = {k}", better="higher") for k in range(1, most - 1))]
        rows = [[*line, *[None] * (most - len(line))] for line in lines]
        notes = ["of samples with at least k runs that have a score; intervals are over patients"]
        sheets += [Sheet(f"{score} in repeated runs", heads, rows, notes, keys=2)] if rows else []
    intro = "pass^k: all of k runs of a sample succeed. pass@k: at least one does. At k = 1 both are the success rate."
    return Section("repeated", "Repeated runs", intro, sheets) if sheets else None


def share_of_choices(successes: int, n: int, k: int, every: bool) -> float:
    """The share of the choices of k among n runs that succeed every time, or at least once."""
    return comb(successes, k) / comb(n, k) if every else 1 - comb(n - successes, k) / comb(n, k)


def _samples(table: Table, score: str) -> Mapping[str, list[int]]:
    """Sample -> the rows of its runs that have a score."""
    values, found = table.values(score).tolist(), dict[str, list[int]]()
    for row in table.in_order().tolist():
        if not isnan(values[row]):
            found.setdefault(table.keys[row][0], []).append(row)
    return found


def _mean(table: Table, score: str, samples: Mapping[str, list[int]], k: int, every: bool) -> Value | None:
    """The mean over samples, each in the place of its first row."""
    values, means, firsts = table.values(score), np.full(len(table), np.nan), list[int]()
    for rows in samples.values():
        if len(rows) >= k:
            means[rows[0]] = share_of_choices(int(values[rows].sum()), len(rows), k, every)
            firsts.append(rows[0])
    there: Rows = np.array(firsts, dtype=np.intp)
    return Value.of(mean_of(table, means, Scale("share"), there).finished)
