"""Skill: answering questions on health records with code that runs: cells with slips, mended from what came of them.

The key's statement goes into a cell where competence, and nothing else, lets it. What comes after a cell is decided by
the text of the cell and of what came of it: whether it is right the core does not know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from components.core.messages import Message
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.knowing import GIVES_WAY, LOOKS_OVER, SILENT, mend_rate, right_rate
from components.models.simulated.skills.programs import functions_in, program, sql_cell
from components.models.simulated.skills.record_key import Gold
from components.models.simulated.skills.repairs import fault_in, repaired, turned_back
from components.models.simulated.skills.slips import wrong
from components.models.simulated.skills.told import CODE_TOOL, Told, argument, done, said, words_of
from components.models.simulated.skills.translate import translated

PROGRAM = 0.5  # of what can be written without SQL is
FAILED = re.compile(
    r"The cell (?:failed|was stopped|ended without|ran to its end, but nothing)|Traceback|python (?:takes|needs) |"
    r"The arguments of python |There is no tool |Your reply could not"
)
_NOTHING = ("", "[]", "None", "nan", "set()", "{}")
_EXPLAINS = "Explain the cell line by line"


def code(messages: Sequence[Message], gold: Gold, told: Told, rates: Rates, draws: Draws) -> Message:
    """The next reply of a dialogue in which cells are run."""
    refuses = not gold.sql and told.refusal is not None
    if refuses and draws.happens("sees the gap", rates.competence, whole=True):
        return told.refuse()
    right = right_cells(gold, told, draws)
    if not right:
        return said("It is not said which functions there are, so no cell can be written.")
    past = done(messages)
    if not past or past[-1].name != CODE_TOOL or past[-1].saw is None or not argument(past[-1]).strip():
        return _sent(_written(right[0], gold, told, rates, draws), told, rates, draws)
    cell, saw = argument(past[-1]).strip(), past[-1].saw.strip()
    earlier = [(one.saw or "").strip() for one in past[:-1] if one.name == CODE_TOOL]
    reviews, following = _EXPLAINS in messages[-1].text, cell
    if FAILED.match(saw):
        following = _mended(right, cell, saw, gold, told, rates, draws)
    elif saw in _NOTHING and not set(_NOTHING) & set(earlier):
        if draws.happens("looks again", mend_rate(gold, told, rates, cell, "")):
            following = _anew(right, cell, gold, told, rates, draws)
    elif reviews and draws.happens("looks over", rates.competence**LOOKS_OVER):
        following = turned_back(cell, gold.question)
    goes_on = following != cell or bool(FAILED.match(saw))
    reply = told.call(CODE_TOOL, following, last=True) if goes_on else told.end(past[-1].saw)
    return _explained(reply, cell, told, goes_on) if reviews else reply


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


def _written(right: str, gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """A cell, right or wrong."""
    if not gold.sql or draws.happens("right", right_rate(gold, told, rates)):
        return right
    return wrong(right, gold.may_misspell, SILENT, draws)


def _anew(right: Sequence[str], cell: str, gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """Another cell, of the other kind where there is one."""
    others = [one for one in right if ("SQLInterpreter" in one) != ("SQLInterpreter" in cell)]
    return _written([*others, *right][0], gold, told, rates, draws)


def _mended(
    right: Sequence[str], cell: str, saw: str, gold: Gold, told: Told, rates: Rates, draws: Draws
) -> str:  # fmt: skip
    """What is tried after a cell that failed: the cell mended where the failure tells how, else one written anew; or
    with another slip."""
    better = repaired(cell, fault_in(cell, saw, told.listed))
    if draws.happens("mends", mend_rate(gold, told, rates, cell, saw)):
        return better if better != cell else _anew(right, cell, gold, told, rates, draws)
    return wrong(better, gold.may_misspell, GIVES_WAY, draws) if gold.sql else right[0]


def _sent(cell: str, told: Told, rates: Rates, draws: Draws) -> Message:
    """A cell; now and then the end is said in the same message."""
    message = told.call(CODE_TOOL, cell, last=True)
    if told.ends_so and told.channel == "fence" and draws.happens("together", rates.malformed):
        return said(f"{message.text}\nTERMINATE")
    return message


def _explained(message: Message, cell: str, told: Told, goes_on: bool) -> Message:
    """A reply below an explanation of the cell."""
    if message.tool_calls:
        return message
    here = words_of(cell)
    read = ", ".join(table for table in told.tables if table.lower() in here)
    judged = "That is not what the question asks for." if goes_on else "That is what the question asks for."
    lines = f"The cell reads {read or 'a table'} and takes the answer from what is left."
    return replace(message, content=f"{lines}\n{judged}\n\n{message.text}")
