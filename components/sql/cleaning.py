"""From what a model wrote to one statement that SQLite can run, as ClinicalAgent Bench prescribes it.

Source: Liao et al. 2024, arXiv 2410.17657 (rules of the reference implementation, BlueZeros/ReflecTool at e89ef65);
times and bounds from Lee et al. 2022, EHRSQL, and Lee et al. 2024, arXiv 2405.06673. Departure: fences may also be
marked ``sqlite`` or in capitals. Models read and scorers compare numbers to 3 decimals, rows sorted, the first 100.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.sql import SqlError

CURRENT_TIMES: Mapping[str, str] = {
    "mimic_iv": "2100-12-31 23:59:00",
    "mimic_iii": "2105-12-31 23:59:00",
    "eicu": "2105-12-31 23:59:00",
}
# Vital sign -> its normal range: degrees Celsius, percent, per minute, mmHg.
VITAL_BOUNDS: Mapping[str, tuple[float, float]] = {
    "temperature": (35.5, 38.1),
    "sao2": (95.0, 100.0),
    "heart rate": (60.0, 100.0),
    "respiration": (12.0, 18.0),
    "systolic bp": (90.0, 120.0),
    "diastolic bp": (60.0, 90.0),
    "mean bp": (60.0, 110.0),
}
_FENCES = (re.compile(r"```sql(?:ite)?\b(.*?)```", re.S | re.I), re.compile(r"```(.*?)```", re.S))
SPLIT_OPERATORS = re.compile(r"([<>!]) =")
_LOWER, _UPPER = (re.compile(rf" (\w+)_{end}", re.ASCII) for end in ("lower", "upper"))


def clean_sql(text: str, dataset_id: str) -> str:
    """The statement in a model's text, with the dataset's current time, and ``<vital>_lower`` and ``<vital>_upper``
    where the first of each name the same vital sign. Raises SqlError where the dataset has no current time."""
    blocks = next((found for fence in _FENCES if (found := fence.findall(text))), [text])
    sql = re.sub(" +", " ", re.sub(r"[\r\n]", " ", blocks[-1])).strip()
    sql = SPLIT_OPERATORS.sub(r"\1=", sql)
    if "current_time" in sql:
        if (now := CURRENT_TIMES.get(dataset_id)) is None:
            why = f"has no fixed current_time (known: {', '.join(CURRENT_TIMES)}); write the time itself"
            raise SqlError(f"the database {dataset_id!r} {why}")
        sql = sql.replace("current_time", f"'{now}'")
    lower, upper = _LOWER.search(sql), _UPPER.search(sql)
    if lower is not None and upper is not None and (vital := lower[1]) == upper[1]:
        bounds = VITAL_BOUNDS.get(vital.replace("_", " "))
        if bounds is not None:
            sql = sql.replace(f"{vital}_lower", str(bounds[0])).replace(f"{vital}_upper", str(bounds[1]))
    return sql.replace("%y", "%Y").replace("%j", "%J")


def cell_text(value: Any) -> str:
    """What is convertible to a number as a float with at most 3 decimals, anything else as its text."""
    try:
        return str(round(float(value), 3))
    except (TypeError, ValueError, OverflowError):
        return str(value)


def text_rows(rows: Iterable[Sequence[Any]], limit: int = 100) -> list[list[str]]:
    """Rows of texts, sorted as lists of texts, the first ``limit`` of them."""
    return sorted([cell_text(value) for value in row] for row in rows)[:limit]
