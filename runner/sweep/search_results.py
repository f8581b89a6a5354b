"""The results of a search: the trials' table and the best of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runner.job.plan import Cell
from runner.storage.manifest import read
from runner.sweep.search_space import Search, Space, words_at
from runner.sweep.search_study import Study

FILE = "search.json"

_SHOWN = 10

_FEW = 30  # complete trials below which importance is a hint only


def conclude(study: Study, search: Search, space: Space, plan: Mapping[int, Cell]) -> None:
    """Print the table and what mattered, write ``search.json`` and the page, send the search's own run to MLflow."""
    from runner.job.summary import finish
    from runner.results.runs import Run

    trials, best, importance = study.trials, study.best, study.importance()
    cells = [plan[one.number] for one in trials]
    rows = []
    for one, cell in zip(trials, cells, strict=True):
        metrics = metrics_of(cell.folder)
        row = {"number": one.number, "folder": cell.label, "state": one.state, "values": words_at(space, one.point)}
        row["objectives"] = {name: metrics.get(name) for name in search.maximised}
        rows.append({**row, "stopped": cell.error or read(cell.folder).get("stopped")})
    complete = sum(one.state == "complete" for one in trials)
    home = cells[0].folder.parent
    _show(rows, best, search, space)
    for name, shares in importance.items():
        print(f"importance for {name}: {', '.join(f'{key} {share:.2f}' for key, share in shares.items())}")  # noqa: T201
    few = "; few: take it as a hint" if complete < _FEW else ""
    source = f"(PED-ANOVA over {complete} complete trials{few})"
    print(source if importance else f"importance: {complete} complete trials are too few for an estimate")  # noqa: T201
    document = {
        "objectives": {name: "maximise" if high else "minimise" for name, high in search.maximised.items()},
        "sampler": search.sampler, "seed": search.seed, "best": best, "importance": importance,
        "importance_from": complete, "trials": rows,
    }  # fmt: skip
    fresh = home / f"{FILE}.tmp"
    fresh.write_text(json.dumps(document, indent=1), encoding="utf-8")
    fresh.replace(home / FILE)
    ran = [cell for cell in cells if (cell.folder / "metrics.json").is_file()]
    stopped_early = {plan[one.number].folder for one in trials if one.stopped_early}  # which is not a failure
    runs = [Run.at(cell.folder, cell.cfg or None) for cell in ran if cell.folder not in stopped_early]
    finish(runs, [read(cell.folder) for cell in ran], home, [home / FILE])


def metrics_of(folder: Path) -> dict[str, Any]:
    """The metrics of a trial; empty where it left none."""
    path = folder / "metrics.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))["metrics"]) if path.is_file() else {}


def _show(rows: Sequence[Mapping[str, Any]], best: Sequence[int], search: Search, space: Space) -> None:
    from runner.results.cells import interval, number
    from runner.results.terminal import show

    ended = [one for one in rows if one["state"] == "complete"]
    if len(search.maximised) > 1:
        shown, what = [one for one in ended if one["number"] in best], "the Pareto front"
    else:
        ((name, high),) = search.maximised.items()
        shown = sorted(ended, key=lambda one: one["objectives"][name]["value"] * (-1 if high else 1))[:_SHOWN]
        what = f"the best {len(shown)}"
    counts = {kind: sum(one["state"] == kind for one in rows) for kind in ("complete", "pruned", "failed", "running")}
    title = f"{what} of {len(rows)} trials ({', '.join(f'{n} {state}' for state, n in counts.items() if n)})"
    arrow = {True: "\N{UPWARDS ARROW}", False: "\N{DOWNWARDS ARROW}"}
    head = ("trial", *(f"{name} {arrow[high]}" for name, high in search.maximised.items()), *space)
    body = []
    for one in shown:
        metrics = [one["objectives"][name] for name in search.maximised]
        values = [f"{number(metric['value'])}\n{interval(metric)}".strip() for metric in metrics]
        body.append((one["folder"], *values, *(one["values"][key] for key in space)))
    if body:
        show(head, body, title)
    else:
        print(title)  # noqa: T201


def worse(one: Mapping[str, Any], best: Mapping[str, Any], high: bool) -> bool:
    """Whether the better end of one's interval does not reach the worse end of the best one's."""
    reach, bar = (one["ci_high"], best["ci_low"]) if high else (one["ci_low"], best["ci_high"])
    if reach is None or bar is None:
        return False
    return bool(reach < bar if high else reach > bar)
