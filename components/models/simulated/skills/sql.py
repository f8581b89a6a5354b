"""Skill: SQL for a question whose statement the answer key holds; mended when the database's error is shown."""

from __future__ import annotations

import re

from components.core.types import Sample
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates

ASKS = "```sql"
_TABLE = re.compile(r"^(\w+)\(", re.MULTILINE)
MENDS = 0.85  # a failed statement is mended when the error is shown


def statement(sample: Sample | None, prompt: str, rates: Rates, draws: Draws) -> str:
    """A fenced statement; ``null`` where the tables cannot answer."""
    gold = None if sample is None else sample.metadata.get("sql")
    table = found[1] if (found := _TABLE.search(prompt)) else "sqlite_master"
    if not isinstance(gold, str) or not gold.strip():
        return "null" if draws.happens("sees the gap", rates.competence) else _fenced(f"select count(*) from {table}")
    mended = "SQLite said:" in prompt and draws.happens("mends", MENDS)
    if mended or draws.happens("competence", rates.competence):
        return _fenced(gold)
    if draws.happens("slip kind", 0.5):
        return _fenced(f"select count(*) from {table}")
    return _fenced(re.sub(r"(?i)\bfrom\b", "from the", gold, count=1))


def _fenced(sql: str) -> str:
    return f"```sql\n{sql}\n```"
