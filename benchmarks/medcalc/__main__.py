"""Checks the calculators against MedCalc-Bench: ``python -m benchmarks.medcalc``.

Reads $CLINICAL_DATA_DIR/medcalc_bench. Prints per calculator how many rows agree, then each row that does
not. Exit code 0: all worked examples and one-shot rows agree; 1: one does not; 2: the data cannot be read.

Of the 300 test rows of 2024-11-22, 61 do not agree. Their explanations show that the gold answers are wrong
(counts of rows in parentheses); the formulas follow medicine and the worked examples instead:

- 7 and 44 (1 each): amounts are rounded to three decimals in the middle of the conversion.
- 13 (6): cycles shorter than 28 days make the pregnancy longer. 15 (7): ascites is not counted.
- 17 (5): the stroke or TIA of the note is not counted. 21 (5): the verbal response is counted twice.
- 23 (3): MELD(i) is rounded to a whole number before it is multiplied by ten.
- 27 (2): a hemoglobin at the bound (13.0 for a man, 12.0 for a woman) is put into the band below.
- 28 (5): the coma score is added, not what it lacks to 15; degrees Celsius are read as Fahrenheit; white
  cells are always above the highest bound.
- 32 (5): diabetes and liver disease get one point in every state, diabetes also where there is none.
- 36 (6): points are computed but not added. 43 (6): PaO2/FiO2 is a hundred times too small, catecholamines
  above the first band get two points, creatinine is not counted.
- 46 (6): cholesterol is taken in mmol/L, the risk as a fraction. 51 (3): white cells are taken per m^3.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.medcalc.rows import PARTS, Part, Row, agrees, arguments, read_rows
from components.arithmetic.evaluate import as_text
from components.core.errors import ConfigError, ToolError
from components.medcalc.calculators import CALCULATORS

_BY_ID = {one.id: one for one in CALCULATORS.values()}


@dataclass(frozen=True)
class Outcome:
    """One row and what our calculator gives for it; a refused call has its text as ``found``."""

    part: Part
    row: Row
    name: str
    found: str
    right: bool


def outcomes(folder: Path) -> Iterator[Outcome]:
    """Every included row, computed. Raises ConfigError."""
    for part in PARTS:
        for row in read_rows(folder, part):
            if row.calculator not in _BY_ID:
                raise ConfigError(f"{row.place}: there is no calculator {row.calculator}")
            calculator = _BY_ID[row.calculator]
            try:
                value = calculator(**arguments(calculator, row.entities))
                found, right = as_text(value), agrees(row, value, as_text(value))
            except ToolError as error:
                found, right = str(error).splitlines()[0], False
            yield Outcome(part, row, calculator.name, found, right)


def main() -> int:
    """Run the check; the exit code."""
    folder = os.environ.get("CLINICAL_DATA_DIR", "")
    try:
        if not folder:
            raise ConfigError("CLINICAL_DATA_DIR is not set: it names the folder that holds medcalc_bench/")
        done = list(outcomes(Path(folder)))
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    right, all_ = Counter[tuple[str, Part]](), Counter[tuple[str, Part]]()
    for one in done:
        all_[one.name, one.part] += 1
        right[one.name, one.part] += one.right
    lines = [f"{'calculator':36}" + "".join(f"{part:>12}" for part in PARTS)]
    for number, calculator in sorted(_BY_ID.items()):
        cells = (f"{right[calculator.name, part]}/{all_[calculator.name, part]}" for part in PARTS)
        lines.append(f"{number:>3} {calculator.name:32}" + "".join(f"{cell:>12}" for cell in cells))
    sums = (f"{sum(o.right for o in done if o.part == p)}/{sum(o.part == p for o in done)}" for p in PARTS)
    lines.append(f"{'total':36}" + "".join(f"{cell:>12}" for cell in sums))
    for one in done:
        if not one.right:
            row = one.row
            lines.append(f"{row.place}: {one.name} gives {one.found}, not {row.answer} ({row.lower} to {row.upper})")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if all(one.right for one in done if one.part != "test") else 1


if __name__ == "__main__":
    raise SystemExit(main())
