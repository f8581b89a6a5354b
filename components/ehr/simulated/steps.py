"""The next step of a dialogue on health records: a cell that runs, an action on tables, or a whole plan of actions.

The key's statement goes into a cell or an action where competence, and nothing else, lets it. What comes after it is
decided by its text and by what came of it: the model does not know whether it is right.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from components.acting.arguments import action_lines
from components.core.messages import Message
from components.ehr.simulated.case import BY_HAND, GIVES_WAY, LOOKS_OVER, NO_CODE, OPEN, Case
from components.ehr.simulated.mistakes import fault_in, repair, turn_back
from components.ehr.simulated.prompt import argument, done, words_of
from components.ehr.simulated.queries import FUNCTIONS, plan, program, sql_cell, translate
from components.simulation.grammar import CODE_TOOL, said
from components.simulation.history import Done

PROGRAM = 0.5  # of what can be written without SQL is
BY_STEPS = 0.6  # of what can be done without SQL is
FAILED = re.compile(
    r"The cell (?:failed|was stopped|ended without|ran to its end, but nothing)|Traceback|python (?:takes|needs) |"
    r"The arguments of python |There is no tool |Your reply could not"
)
_NOTHING = ("", "[]", "None", "nan", "set()", "{}")
_REFERENCE = re.compile(r"#(\d+)")
_NO_ACTIONS = "It is not said which actions there are."
# How a result of each tool begins; of GetValue, which may give any text, how none does.
WORKED = {
    "LoadDB": re.compile(r"\w+: [\d,]+ rows? with"),
    "FilterDB": re.compile(r"The current table is down to"),
    "GetValue": re.compile(
        r"(?!There is no (?:tool|column|operation) |No table is |The table has |The arguments of GetValue |"
        r"GetValue (?:needs|takes)|`(?:[^`]|\n)*`(?:\.\.\. \(\d+ characters\))? needs |Your reply)"
    ),
    "SQLInterpreter": re.compile(r"\["),
    "Calendar": re.compile(r"\d{4}-"),
    "Calculate": re.compile(r"-?\d"),
}
_CUT = " ... (the first "


def code(case: Case) -> Message:
    """The next reply of a dialogue in which cells are run."""
    if case.sees_the_gap():
        return case.prompt.refuse()
    right = right_cells(case)
    if not right:
        return said("It is not said which functions there are, so no cell can be written.")
    past = done(case.asked.messages)
    if not past or past[-1].name != CODE_TOOL or past[-1].saw is None or not argument(past[-1]).strip():
        message = case.prompt.call(CODE_TOOL, _write_cell(right, "", case), last=True)
        ends = case.prompt.style == "fence" and "TERMINATE" in case.prompt.text
        together = ends and case.draws.happens("together", case.asked.rates.malformed)
        return said(f"{message.text}\nTERMINATE") if together else message
    cell, saw = argument(past[-1]).strip(), past[-1].saw.strip()
    reviews, following, failed = case.asked.rendered_from("self_debugging/review"), cell, bool(FAILED.match(saw))
    if failed:  # it is repaired where the failure shows how, else another one is tried, or one with another slip
        fault = fault_in(cell, saw, case.prompt.listed)
        better = repair(cell, fault)
        if case.happens("mends", case.facts_to_mend(fault, saw)):
            following = better if better != cell else _write_cell(right, cell, case)
        else:
            following = case.wrong(better, GIVES_WAY) if case.gold.sql else right[0]
    elif saw in _NOTHING and not any(
        one.name == CODE_TOOL and (one.saw or "").strip() in _NOTHING for one in past[:-1]
    ):
        if case.happens("looks again", case.facts_to_mend(None, "")):
            following = _write_cell(right, cell, case)
    elif reviews and case.happens("looks over", LOOKS_OVER):
        following = turn_back(cell, case.gold.question)
    continues = following != cell or failed
    reply = case.prompt.call(CODE_TOOL, following, last=True) if continues else case.end(past[-1].saw)
    if not reviews or reply.tool_calls:
        return reply
    read = ", ".join(table for table in case.prompt.tables if table.lower() in words_of(cell)) or "a table"
    judged = "That is not what the question asks for." if continues else "That is what the question asks for."
    lines = f"The cell reads {read} and takes the answer from what is left."
    return replace(reply, content=f"{lines}\n{judged}\n\n{reply.text}")


def right_cells(case: Case) -> list[str]:
    """The right cells with functions that the prompt names, in order; without SQL in the key a plausible one."""
    gold = case.gold
    cells = [sql_cell(gold.sql or f"select count(*) from {case.prompt.any_table}")]
    if gold.sql and (query := translate(gold.sql, gold.database)) is not None:
        cells.insert(0 if case.draws.happens("program", PROGRAM, whole=True) else 1, program(query))
    return [cell for cell in cells if case.prompt.names(one for one in FUNCTIONS if f"{one}(" in cell)]


def _write_cell(right: Sequence[str], cell: str, case: Case) -> str:
    """A cell, right or wrong; after another ``cell`` of the other kind where there is one."""
    others = [one for one in right if cell and ("SQLInterpreter" in one) != ("SQLInterpreter" in cell)]
    first = [*others, *right][0]
    return first if not case.gold.sql or case.happens("right", case.facts()) else case.wrong(first)


def act(case: Case) -> Message:
    """The next action of a history, or the answer."""
    if case.sees_the_gap():
        return case.prompt.refuse()
    past = [one for one in done(case.asked.messages) if one.name in WORKED]
    worked = [one for one in past if WORKED[one.name].match(one.saw or "")]
    actions = choose_actions(case, [one.name for one in worked])
    results = [(one.saw or "").partition(_CUT)[0] for one in worked]
    if not actions:
        return said(_NO_ACTIONS)
    if len(results) >= len(actions):
        return case.end("None" if results[-1].startswith("(nothing") else results[-1])
    right = _REFERENCE.sub(lambda found: results[int(found[1]) - 1], actions[len(results)])
    failed = past[-1] if past and past[-1] not in worked[-1:] else None
    line = next(action_lines(_take(right, len(actions), failed, case)))
    if others := _other_actions(line.name, case):
        line = replace(line, name=case.draws.pick("which tool", others))
    return case.prompt.call(line.name, line.argument or "", last=len(results) == len(actions) - 1)


def whole_plan(case: Case) -> str:
    """Thoughts and the complete list of actions."""
    if case.sees_the_gap():
        return f"Plan:\n1. {case.prompt.refuse().text}"
    actions, draws = [*choose_actions(case, ())], case.draws
    if not actions:
        return _NO_ACTIONS
    if case.gold.sql and not case.happens("right", case.facts(NO_CODE + OPEN)):
        place = int(draws.share("place") * len(actions))
        actions[place] = case.wrong(actions[place])
    if len(actions) > 1 and draws.happens("left out", case.asked.rates.planning_slip):
        actions.pop(int(draws.share("left out where") * len(actions)))
    listed = "\n".join(f"{n}. {line}" for n, line in enumerate([*actions, f"Finish[#{len(actions)}]"], 1))
    return f"The question is about {', '.join(sorted(case.gold.tables)) or case.prompt.any_table}.\nPlan:\n{listed}"


def module_names(case: Case) -> str:
    """The names of the modules in their order; with a slip one of them is left out."""
    if case.sees_the_gap():
        return "Refuse"
    names = [one.partition("[")[0] for one in choose_actions(case, ())]
    if len(names) > 1 and case.draws.happens("left out", case.asked.rates.planning_slip):
        names.pop(int(case.draws.share("place") * len(names)))
    return ", ".join([*names, "Finish"])


def module(names: Sequence[str], number: int, case: Case) -> str:
    """One module with its argument, as the whole order of them asks for."""
    name = names[number - 1] if number <= len(names) else "Finish"
    if name == "Refuse":
        return case.prompt.refuse().text
    if name == "Finish":
        return f"Finish[#{number - 1}]"
    actions = choose_actions(case, names)
    fits = [one for one in actions[number - 1 :] + actions[: number - 1] if one.partition("[")[0] == name]
    if not fits:
        return f"{name}[{case.prompt.any_table}]"
    if others := _other_actions(name, case):
        return fits[0].replace(name, case.draws.pick("which tool", others), 1)
    right = not case.gold.sql or case.happens("right", case.facts(NO_CODE + OPEN) / len(actions))
    return fits[0] if right else case.wrong(fits[0])


def choose_actions(case: Case, begun: Sequence[str]) -> list[str]:
    """The right actions that the prompt names, without the answer: by steps, or one statement; as it was ``begun``."""
    gold = case.gold
    query = translate(gold.sql, gold.database) if gold.sql else None
    steps = list(plan(query) or ()) if query is not None else []
    if not case.prompt.names(one.partition("[")[0] for one in steps):
        steps = []
    if not case.prompt.names(["SQLInterpreter"]):
        return steps
    if not steps or (begun and begun[0] == "SQLInterpreter"):
        return [f"SQLInterpreter[{gold.sql or f'select count(*) from {case.prompt.any_table}'}]"]
    by_steps = begun or case.draws.happens("by steps", BY_STEPS, whole=True)
    return steps if by_steps else [f"SQLInterpreter[{gold.sql}]"]


def _take(right: str, n: int, failed: Done | None, case: Case) -> str:
    """The action taken where ``right`` would be, one of ``n``: what failed is repaired, else another one is tried."""
    if not case.gold.sql:
        return right
    if failed is not None and failed.saw:
        wrong = f"{failed.name}[{argument(failed)}]"
        better = repair(wrong, fault := fault_in(wrong, failed.saw, case.prompt.listed))
        if not case.happens("mends", case.facts_to_mend(fault, failed.saw, BY_HAND)):
            return case.wrong(better, GIVES_WAY)
        if better != wrong:
            return better
    return right if case.happens("right", case.facts(NO_CODE) / n) else case.wrong(right)


def _other_actions(name: str, case: Case) -> list[str]:
    if not case.draws.happens("wrong tool", case.asked.rates.wrong_tool):
        return []
    return [one for one in FUNCTIONS if one != name and case.prompt.names([one])]
