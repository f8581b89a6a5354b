"""Answering questions on health records with actions on tables: one at a time, or a whole plan at once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from components.acting.action_lines import action_lines
from components.core.messages import Message
from components.ehr.simulated.case import BY_HAND, GIVES_WAY, NO_CODE, OPEN, Case
from components.ehr.simulated.mistakes import fault_in, repair
from components.ehr.simulated.programs import FUNCTIONS, plan
from components.ehr.simulated.prompt import argument, done
from components.ehr.simulated.translate import translate
from components.simulation.grammar import said

BY_STEPS = 0.6  # of what can be done without SQL is
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


@dataclass
class _Past:
    """What has worked so far, and what failed last."""

    results: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    failed: str = ""
    wrong: str = ""


def act(case: Case) -> Message:
    """The next action of a history, or the answer."""
    if case.sees_the_gap():
        return case.prompt.refuse()
    past = _past(case.asked.messages)
    actions = chosen(case, past.names)
    if not actions:
        return said(_NO_ACTIONS)
    if len(past.results) >= len(actions):
        result = past.results[-1]
        return case.end("None" if result.startswith("(nothing") else result.partition(_CUT)[0])
    right = _filled(actions[len(past.results)], past.results)
    line = next(action_lines(_taken(right, len(actions), past, case)))
    if others := _others(line.name, case):
        line = replace(line, name=case.draws.pick("which tool", others))
    return case.prompt.call(line.name, line.argument or "", last=len(past.results) == len(actions) - 1)


def whole_plan(case: Case) -> str:
    """Thoughts and the complete list of actions."""
    if case.sees_the_gap():
        return f"Plan:\n1. {case.prompt.refuse().text}"
    actions, draws = [*chosen(case, ())], case.draws
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
    names = [one.partition("[")[0] for one in chosen(case, ())]
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
    actions = chosen(case, names)
    fits = [one for one in actions[number - 1 :] + actions[: number - 1] if one.partition("[")[0] == name]
    if not fits:
        return f"{name}[{case.prompt.any_table}]"
    if others := _others(name, case):
        return fits[0].replace(name, case.draws.pick("which tool", others), 1)
    right = not case.gold.sql or case.happens("right", case.facts(NO_CODE + OPEN) / len(actions))
    return fits[0] if right else case.wrong(fits[0])


def chosen(case: Case, begun: Sequence[str]) -> list[str]:
    """The right actions without the answer, of those that the prompt names: by steps, or one statement; as it was
    ``begun`` where it was."""
    gold = case.gold
    sql = gold.sql or f"select count(*) from {case.prompt.any_table}"
    query = translate(gold.sql, gold.database) if gold.sql else None
    steps = plan(query) if query is not None else None
    by_sql = [f"SQLInterpreter[{sql}]"]
    able = steps is not None and case.prompt.names(frozenset(one.partition("[")[0] for one in steps))
    if not case.prompt.names(frozenset({"SQLInterpreter"})):
        return [*(steps or ())] if able else []
    if steps is None or not able or (begun and begun[0] == "SQLInterpreter"):
        return by_sql
    return [*steps] if begun or case.draws.happens("by steps", BY_STEPS, whole=True) else by_sql


def _taken(right: str, n: int, past: _Past, case: Case) -> str:
    """The action that is taken where ``right`` would be, one of ``n``: what failed there is repaired where the failure
    shows how, else another one is tried."""
    if not case.gold.sql:
        return right
    if past.failed:
        better = repair(past.wrong, fault_in(past.wrong, past.failed, case.prompt.listed))
        if not case.happens("mends", case.facts_to_mend(past.wrong, past.failed, BY_HAND)):
            return case.wrong(better, GIVES_WAY)
        if better != past.wrong:
            return better
    return right if case.happens("right", case.facts(NO_CODE) / n) else case.wrong(right)


def _others(name: str, case: Case) -> list[str]:
    """The other actions that are offered, where one of them is taken by mistake."""
    if not case.draws.happens("wrong tool", case.asked.rates.wrong_tool):
        return []
    return [one for one in FUNCTIONS if one != name and case.prompt.names(frozenset({one}))]


def _past(messages: Sequence[Message]) -> _Past:
    """What was done in a dialogue."""
    past = _Past()
    for one in done(messages):
        saw, text = one.saw or "", f"{one.name}[{argument(one)}]"
        pattern = WORKED.get(one.name)
        if pattern is not None and pattern.match(saw):
            past.results.append(saw)
            past.names.append(one.name)
            past.failed = past.wrong = ""
        elif pattern is not None:
            past.failed, past.wrong = saw, text
    return past


def _filled(action: str, results: Sequence[str]) -> str:
    """An action with results in the place of references to them."""
    return _REFERENCE.sub(lambda found: results[int(found[1]) - 1].partition(_CUT)[0], action)
