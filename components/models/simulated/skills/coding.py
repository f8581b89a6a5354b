"""Skill: answering questions on health records with code that runs: cells with slips, mended from what came of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from components.messages import Message
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.knowing import FINDS, GIVES_WAY, LOOKS_AGAIN, SILENT, mend_rate, right_rate
from components.models.simulated.skills.programs import functions_in, program, sql_cell
from components.models.simulated.skills.slips import loud, silent
from components.models.simulated.skills.told import CODE_TOOL, Gold, Told, argument, done, said
from components.models.simulated.skills.translate import translated

PROGRAM = 0.5  # of what can be written without SQL is
PROSE = (
    "I would load the tables first, look at their columns, and then filter them.",
    "The last run has given what was asked for.",
)
_FAILED = re.compile(
    r"The cell (?:failed|was stopped|ended without|ran to its end, but nothing)|Traceback|python takes one argument"
)
_NOTHING = ("", "[]", "None", "nan", "set()", "{}")
_EXPLAINS = "Explain the cell line by line"


def code(messages: Sequence[Message], gold: Gold, told: Told, rates: Rates, draws: Draws) -> Message:
    """The next reply of a dialogue in which cells are run."""
    if draws.happens("malformed", rates.malformed):
        return said(draws.pick("prose", PROSE))
    refuses = not gold.sql and told.refusal is not None
    if refuses and draws.happens("sees the gap", rates.competence, whole=True):
        return told.refuse()
    right = right_cells(gold, told, draws)
    if not right:
        return said("It is not said which functions there are, so no cell can be written.")
    ran = [one for one in done(messages) if one.name == CODE_TOOL]
    reviews, last = _EXPLAINS in messages[-1].text, ran[-1] if ran else None
    if last is None or last.saw is None or done(messages)[-1] != last:
        return _sent(_first(right[0], gold, told, rates, draws), told, rates, draws)
    cell, saw = argument(last).strip(), last.saw
    if _FAILED.match(saw):
        return _explained(
            told.call(CODE_TOOL, _mended(right, cell, saw, gold, told, rates, draws), last=True), gold, reviews
        )
    if cell not in right and (
        (saw.strip() in _NOTHING and draws.happens("looks again", LOOKS_AGAIN))
        or (reviews and draws.happens("finds it", FINDS))
    ):
        return _explained(told.call(CODE_TOOL, right[0], last=True), gold, reviews)
    return _explained(told.end(saw), gold, reviews)


def right_cells(gold: Gold, told: Told, draws: Draws) -> list[str]:
    """The cells that answer the question with functions that the prompt names, first the one that is written first.

    Without SQL in the key it is a plausible one.
    """
    if not gold.sql:
        cells = [sql_cell(f"select count(*) from {told.any_table}")]
    else:
        query = translated(gold.sql, gold.database)
        cells = [sql_cell(gold.sql)]
        if query is not None:
            cells.insert(0 if draws.happens("program", PROGRAM, whole=True) else 1, program(query))
    return [one for one in cells if told.names(functions_in(one))]


def wrong(text: str, columns: frozenset[str], rate: float, draws: Draws) -> str:
    """A text with a slip; with ``rate`` one that nobody notices, where it can have one."""
    turned = silent(text) if draws.happens("silent", rate) else text
    return turned if turned != text else loud(text, columns, draws)


def _first(right: str, gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """A cell, right or wrong."""
    if not gold.sql or draws.happens("right", right_rate(gold, told, rates)):
        return right
    return wrong(right, gold.names - gold.tables, SILENT, draws)


def _mended(
    right: Sequence[str], cell: str, saw: str, gold: Gold, told: Told, rates: Rates, draws: Draws
) -> str:  # fmt: skip
    """The cell that is tried after one that failed: another that is right where this one was, too."""
    if cell in right:
        return right[(right.index(cell) + 1) % len(right)]
    meant = next((one for one in right if ("SQLInterpreter" in one) == ("SQLInterpreter" in cell)), right[0])
    if draws.happens("mends", mend_rate(gold, told, rates, meant, cell, saw)):
        return meant
    return wrong(meant, gold.names - gold.tables, GIVES_WAY, draws)


def _sent(cell: str, told: Told, rates: Rates, draws: Draws) -> Message:
    """A cell; now and then the end is said in the same message."""
    message = told.call(CODE_TOOL, cell, last=True)
    if told.ends_so and told.channel == "fence" and draws.happens("together", rates.malformed):
        return said(f"{message.text}\nTERMINATE")
    return message


def _explained(message: Message, gold: Gold, reviews: bool) -> Message:
    """A reply below an explanation, where one is asked for."""
    if not reviews or message.tool_calls:
        return message
    right = message.text == "TERMINATE"
    lines = f"The cell reads {', '.join(sorted(gold.tables)) or 'a table'} and takes the answer from what is left."
    judged = "That is what the question asks for." if right else "That is not what the question asks for."
    return replace(message, content=f"{lines}\n{judged}\n\n{message.text}")
