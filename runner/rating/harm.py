"""Expected harm of rated cases: by clinicians, by the tables of errors, and by a model that graded them too."""

from collections.abc import Mapping
from typing import Any

from runner.rating.result import Pick, Result
from runner.results.sheets import Cell, Sheet, Value, columns

FIELD, SCORE = "severity", "harm/expected"
_HUNDRED = 100.0


def harm_of(result: Result) -> Sheet | None:
    """A line for each who says how severe the cases are, on the cases that it rates, with its weighted kappa with each
    rater; None for a rubric whose severities the runs do not weigh."""
    weights = next((found for run in result.runs if (found := _weights(run.cfg))), {})
    field = result.key.rubric.fields.get(FIELD)
    if field is None or not set(field.categories) <= weights.keys():
        return None
    levels = {weights[name]: name for name in reversed(list(field.categories))}  # of equal weights the better level
    tables = {
        code: {FIELD: (levels[value],)}
        for code, value in _values(result).items()
        if value is not None and value in levels
    }
    said: dict[str, Mapping[str, Mapping[str, Pick]]] = {sheet.rater: sheet.picked for sheet in result.sheets}
    said |= {"the tables": tables, "the model": {code: of for code, of in result.grades.items() if FIELD in of}}
    rows: list[list[Cell]] = []
    for name, of in said.items():
        codes = [code for code in result.key.items if code in of]
        if codes:
            mean = result.mean([weights[of[code][FIELD][0]] for code in codes], codes, raters=2)
            rows.append([name, len(codes), Value.of(mean, _HUNDRED)])
            for sheet in result.sheets:
                one = result.weigh([of, sheet.picked])[FIELD]
                kappa = Value(one.kappa, one.ci_low, one.ci_high, no_interval=one.no_interval or "")
                rows[-1].append(None if sheet.rater == name else kappa)
    heads = [f"kappa with {sheet.rater}" for sheet in result.sheets]
    notes = [f"weights of the levels: {', '.join(f'{name} {weights[name]:g}' for name in field.categories)}"]
    return Sheet(
        "harm of the rated cases",
        columns("by", ("cases", "n"), ("expected harm", "per 100 cases"), *heads),
        rows,
        notes,
    )


def _weights(cfg: Mapping[str, Any]) -> dict[str, float]:
    scorer = (cfg.get("scorer") or {}).get("harm") or {}
    return {str(name): float(value) for name, value in (scorer.get("weights") or {}).items()}


def _values(result: Result) -> dict[str, float | None]:
    """Item -> what the tables of its run say."""
    scores = {
        (str(run.manifest.get("id")), one["sample_id"], one["epoch"]): one["scores"]
        for run in result.runs
        for one in run.records
    }
    keys = {code: (str(of["run"]), of["sample_id"], of["epoch"]) for code, of in result.key.items.items()}
    return {code: scores.get(key, {}).get(SCORE) for code, key in keys.items()}
