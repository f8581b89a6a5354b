"""Expected harm of rated cases: by clinicians, by the tables of errors, and by a model that graded them too."""

from collections.abc import Mapping

from components.core.score_names import LEVEL
from runner.rating.result import Pick, Result
from runner.results.kinds import Scale
from runner.results.sections.harm import weights_of
from runner.results.sheets import Cell, Sheet, Value, columns

FIELD = "severity"
_HUNDRED = 100.0


def harm_of(result: Result) -> Sheet | None:
    """A line for each who says how severe the cases are, on the cases that it rates, with its weighted kappa with each
    rater; each run's levels weigh what its config says. None for a rubric whose severities no run weighs."""
    field = result.key.rubric.fields.get(FIELD)
    weights = {str(run.manifest.get("id")): found for run in result.runs if (found := weights_of(run.cfg))}
    if field is None or not weights or any(not set(field.categories) <= of.keys() for of in weights.values()):
        return None
    of_item = {code: weights[run] for code, one in result.key.items.items() if (run := str(one["run"])) in weights}
    said: dict[str, Mapping[str, Mapping[str, Pick]]] = {sheet.rater: sheet.picked for sheet in result.sheets}
    said |= {
        "the tables": result.picks_of(result.runs, lambda _, level: LEVEL.format(level)),
        "the model": result.grades,
    }
    rows: list[list[Cell]] = []
    for name, of in said.items():
        if codes := [code for code in of_item if of.get(code, {}).get(FIELD)]:
            mean = result.mean([of_item[code][of[code][FIELD][0]] for code in codes], codes, Scale("share"))
            rows.append([name, len(codes), Value.of(mean, _HUNDRED)])
            for sheet in result.sheets:
                one = result.weigh([of, sheet.picked])[FIELD]
                kappa = Value(one.kappa, one.ci_low, one.ci_high, no_interval=one.no_interval or "")
                rows[-1].append(None if sheet.rater == name else kappa)
    heads = [f"kappa with {sheet.rater}" for sheet in result.sheets]
    texts = {", ".join(f"{name} {of[name]:g}" for name in field.categories): None for of in weights.values()}
    notes = [f"weights of the levels: {'; of other runs '.join(texts)}"]
    if left := len(result.key.items) - len(of_item):
        notes.append(f"left out: {left} items of runs without scorer harm")
    return Sheet(
        "harm of the rated cases",
        columns("by", ("cases", "n"), ("expected harm", "per 100 cases"), *heads),
        rows,
        notes,
    )
