"""Answering questions on health records with code that runs: cells with slips, repaired by what came of them.

The key's statement goes into a cell where competence, and nothing else, lets it. What comes after a cell is decided by
the text of the cell and of what came of it: the model does not know whether it is right.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from components.core.messages import Message
from components.ehr.simulated.case import GIVES_WAY, LOOKS_OVER, Case
from components.ehr.simulated.mistakes import fault_in, repair, turn_back
from components.ehr.simulated.programs import called_functions, program, sql_cell
from components.ehr.simulated.prompt import argument, done, words_of
from components.ehr.simulated.translate import translate
from components.simulation.grammar import CODE_TOOL, said

PROGRAM = 0.5  # of what can be written without SQL is
FAILED = re.compile(
    r"The cell (?:failed|was stopped|ended without|ran to its end, but nothing)|Traceback|python (?:takes|needs) |"
    r"The arguments of python |There is no tool |Your reply could not"
)
_NOTHING = ("", "[]", "None", "nan", "set()", "{}")


def code(case: Case) -> Message:
    """The next reply of a dialogue in which cells are run."""
    if case.sees_the_gap():
        return case.prompt.refuse()
    right = right_cells(case)
    if not right:
        return said("It is not said which functions there are, so no cell can be written.")
    past = done(case.asked.messages)
    if not past or past[-1].name != CODE_TOOL or past[-1].saw is None or not argument(past[-1]).strip():
        return _sent(_written(right[0], case), case)
    cell, saw = argument(past[-1]).strip(), past[-1].saw.strip()
    earlier = [(one.saw or "").strip() for one in past[:-1] if one.name == CODE_TOOL]
    reviews, following = case.asked.rendered_from("self_debugging/review"), cell
    if FAILED.match(saw):
        following = _repair(right, cell, saw, case)
    elif saw in _NOTHING and not set(_NOTHING) & set(earlier):
        if case.happens("looks again", case.facts_to_mend(cell, "")):
            following = _another(right, cell, case)
    elif reviews and case.happens("looks over", LOOKS_OVER):
        following = turn_back(cell, case.gold.question)
    continues = following != cell or bool(FAILED.match(saw))
    reply = case.prompt.call(CODE_TOOL, following, last=True) if continues else case.end(past[-1].saw)
    return _explained(reply, cell, case, continues) if reviews else reply


def right_cells(case: Case) -> list[str]:
    """The cells that answer the question with functions that the prompt names, first the one that is written first.

    Without SQL in the key it is a plausible one.
    """
    gold = case.gold
    if not gold.sql:
        cells = [sql_cell(f"select count(*) from {case.prompt.any_table}")]
    else:
        query = translate(gold.sql, gold.database)
        cells = [sql_cell(gold.sql)]
        if query is not None:
            cells.insert(0 if case.draws.happens("program", PROGRAM, whole=True) else 1, program(query))
    return [one for one in cells if case.prompt.names(called_functions(one))]


def _written(right: str, case: Case) -> str:
    """A cell, right or wrong."""
    return right if not case.gold.sql or case.happens("right", case.facts()) else case.wrong(right)


def _another(right: Sequence[str], cell: str, case: Case) -> str:
    """Another cell, of the other kind where there is one."""
    others = [one for one in right if ("SQLInterpreter" in one) != ("SQLInterpreter" in cell)]
    return _written([*others, *right][0], case)


def _repair(right: Sequence[str], cell: str, saw: str, case: Case) -> str:
    """What is tried after a cell that failed: the cell repaired where the failure shows how, else another one; or one
    with another slip."""
    better = repair(cell, fault_in(cell, saw, case.prompt.listed))
    if case.happens("mends", case.facts_to_mend(cell, saw)):
        return better if better != cell else _another(right, cell, case)
    return case.wrong(better, GIVES_WAY) if case.gold.sql else right[0]


def _sent(cell: str, case: Case) -> Message:
    """A cell; now and then the same message has the end too."""
    message = case.prompt.call(CODE_TOOL, cell, last=True)
    ends = case.prompt.terminates and case.prompt.style == "fence"
    if ends and case.draws.happens("together", case.asked.rates.malformed):
        return said(f"{message.text}\nTERMINATE")
    return message


def _explained(message: Message, cell: str, case: Case, continues: bool) -> Message:
    """A reply below an explanation of the cell."""
    if message.tool_calls:
        return message
    here = words_of(cell)
    read = ", ".join(table for table in case.prompt.tables if table.lower() in here)
    judged = "That is not what the question asks for." if continues else "That is what the question asks for."
    lines = f"The cell reads {read or 'a table'} and takes the answer from what is left."
    return replace(message, content=f"{lines}\n{judged}\n\n{message.text}")
