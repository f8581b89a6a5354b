"""Skill: answering questions on health records with actions on tables: one at a time, or a whole plan at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from components.acting.action_lines import action_lines
from components.core.messages import Message
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.skills.knowing import BY_HAND, GIVES_WAY, NO_CODE, OPEN, SILENT, mend_rate, right_rate
from components.models.simulated.skills.programs import FUNCTIONS, plan
from components.models.simulated.skills.record_key import Gold
from components.models.simulated.skills.repairs import fault_in, repaired
from components.models.simulated.skills.slips import wrong
from components.models.simulated.skills.told import Told, argument, done, said
from components.models.simulated.skills.translate import translated

BY_STEPS = 0.6  # of what can be done without SQL is
_REFERENCE = re.compile(r"#(\d+)")
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


def act(messages: Sequence[Message], gold: Gold, told: Told, rates: Rates, draws: Draws) -> Message:
    """The next action of a dialogue, or the answer."""
    if _refuses(gold, told, rates, draws):
        return told.refuse()
    past = _past(messages)
    actions = chosen(gold, told, draws, past.names)
    if not actions:
        return said("It is not said which actions there are.")
    if len(past.results) >= len(actions):
        return told.end(_answer(past.results[-1]))
    right = _filled(actions[len(past.results)], past.results)
    line = next(action_lines(_taken(right, len(actions), past, gold, told, rates, draws)))
    if others := _others(line.name, told, rates, draws):
        line = replace(line, name=draws.pick("which tool", others))
    return told.call(line.name, line.argument or "", last=len(past.results) == len(actions) - 1)


def whole_plan(gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """Thoughts and the complete list of actions."""
    if _refuses(gold, told, rates, draws):
        return f"Plan:\n1. {told.refuse().text}"
    actions = [*chosen(gold, told, draws, ())]
    if not actions:
        return "It is not said which actions there are."
    if gold.sql and not draws.happens("right", right_rate(gold, told, rates, NO_CODE + OPEN)):
        place = int(draws.share("place") * len(actions))
        actions[place] = wrong(actions[place], gold.may_misspell, SILENT, draws)
    if len(actions) > 1 and draws.happens("left out", rates.planning_slip):
        actions.pop(int(draws.share("left out where") * len(actions)))
    lines = [*actions, f"Finish[#{len(actions)}]"]
    listed = "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1))
    return f"The question is about {', '.join(sorted(gold.tables)) or told.any_table}.\nPlan:\n{listed}"


def module_names(gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """The names of the modules in their order; with a slip one of them is left out."""
    if _refuses(gold, told, rates, draws):
        return "Refuse"
    names = [one.partition("[")[0] for one in chosen(gold, told, draws, ())]
    if len(names) > 1 and draws.happens("left out", rates.planning_slip):
        names.pop(int(draws.share("place") * len(names)))
    return ", ".join([*names, "Finish"])


def module(names: Sequence[str], number: int, gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """One module with its argument, as the whole order of them asks for."""
    name = names[number - 1] if number <= len(names) else "Finish"
    if name == "Refuse":
        return told.refuse().text
    if name == "Finish":
        return f"Finish[#{number - 1}]"
    actions = chosen(gold, told, draws, names)
    fits = [one for one in actions[number - 1 :] + actions[: number - 1] if one.partition("[")[0] == name]
    if not fits:
        return f"{name}[{told.any_table}]"
    if others := _others(name, told, rates, draws):
        return fits[0].replace(name, draws.pick("which tool", others), 1)
    if not gold.sql or draws.happens("right", right_rate(gold, told, rates, NO_CODE + OPEN) ** (1 / len(actions))):
        return fits[0]
    return wrong(fits[0], gold.may_misspell, SILENT, draws)


def chosen(gold: Gold, told: Told, draws: Draws, begun: Sequence[str]) -> list[str]:
    """The right actions without the answer, of those that the prompt names: by steps, or one statement; as it was
    ``begun`` where it was."""
    sql = gold.sql or f"select count(*) from {told.any_table}"
    query = translated(gold.sql, gold.database) if gold.sql else None
    steps = plan(query) if query is not None else None
    by_sql = [f"SQLInterpreter[{sql}]"]
    able = steps is not None and told.names(frozenset(one.partition("[")[0] for one in steps))
    if not told.names(frozenset({"SQLInterpreter"})):
        return [*(steps or ())] if able else []
    if steps is None or not able or (begun and begun[0] == "SQLInterpreter"):
        return by_sql
    return [*steps] if begun or draws.happens("by steps", BY_STEPS, whole=True) else by_sql


def _refuses(gold: Gold, told: Told, rates: Rates, draws: Draws) -> bool:
    """Whether the question is refused."""
    seen = not gold.sql and told.refusal is not None
    return seen and draws.happens("sees the gap", rates.competence, whole=True)


def _taken(
    right: str, n: int, past: _Past, gold: Gold, told: Told, rates: Rates, draws: Draws
) -> str:  # fmt: skip
    """The action that is taken where ``right`` would be, one of ``n``: what failed there is mended where the failure
    tells how, else thought of anew."""
    if not gold.sql:
        return right
    if past.failed:
        better = repaired(past.wrong, fault_in(past.wrong, past.failed, told.listed))
        if not draws.happens("mends", mend_rate(gold, told, rates, past.wrong, past.failed, BY_HAND)):
            return wrong(better, gold.may_misspell, GIVES_WAY, draws)
        if better != past.wrong:
            return better
    rate = right_rate(gold, told, rates, NO_CODE) ** (1 / n)
    return right if draws.happens("right", rate) else wrong(right, gold.may_misspell, SILENT, draws)


def _others(name: str, told: Told, rates: Rates, draws: Draws) -> list[str]:
    """The other actions that are offered, where one of them is taken by mistake."""
    if not draws.happens("wrong tool", rates.wrong_tool):
        return []
    return [one for one in FUNCTIONS if one != name and told.names(frozenset({one}))]


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


def _answer(result: str) -> str:
    """The answer that a result gives."""
    return "None" if result.startswith("(nothing") else result.partition(_CUT)[0]
