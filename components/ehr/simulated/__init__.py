"""The simulated model on questions over health records: cells, actions, plans, statements, knowledge, causes, notes."""

import re
from collections.abc import Callable, Mapping

from components.acting.arguments import action_lines
from components.core.messages import Message
from components.core.types import Sample
from components.ehr.simulated.case import BY_HEART, LOOKS_OVER, OPEN, RECALLS, Case, Gold, gold_of
from components.ehr.simulated.mistakes import MEANT, fault_in, find_unlisted, repair, turn_back
from components.ehr.simulated.prompt import PROSE, done, prompt_of, words_of
from components.ehr.simulated.steps import act, code, module, module_names, whole_plan
from components.simulation.asked import Asked, Responder
from components.simulation.grammar import said
from components.simulation.history import review

UNCAUSED = "A name or a value may not be there as it is written."
_MODULE = re.compile(r"^Next, as number (\d+), comes (\w+)\.", re.MULTILINE)
_MODULES = re.compile(r"^Modules, in their order: (.*)$", re.MULTILINE)
_RUN = re.compile(r"What was run:\n(.*?)\n\nWhat came of it:\n(.*?)\n\nMost likely cause:\Z", re.DOTALL)
_DRAFT = re.compile(r"^Statement:\n```sql\n(.*?)\n```", re.DOTALL | re.MULTILINE)


class Records(Responder):
    """Questions over a database of health records."""

    def knowledge(self, sample: Sample) -> Gold | None:
        """The statement and its answer."""
        return gold_of(sample)

    def reply(self, asked: Asked) -> Message | None:
        """What is asked is in the last message, else in the first ones."""
        if not isinstance(asked.knowledge, Gold):
            return None
        if asked.draws.happens("malformed", asked.rates.malformed):
            return said(asked.draws.pick("prose", PROSE))
        case = Case(asked, asked.knowledge, prompt := prompt_of(asked))
        if asked.concludes:
            seen = [one.saw for one in done(asked.messages) if one.saw]
            return said(asked.voice.worded(seen[-1] if seen else _by_heart(case), asked.draws))
        if asked.messages[-1].role == "user":
            if reply := next((one for template, one in _REPLIES.items() if asked.rendered_from(template)), None):
                return said(reply(case))
            if "between ```sql and ```" in prompt.text:
                return said(_statement(case))
        if prompt.style is None:
            return said(asked.voice.worded(_by_heart(case), asked.draws))
        step = code if prompt.runs_code else act
        if asked.reviewed:  # one proposal is as good as another here
            style = "bracket" if prompt.style == "fence" else prompt.style
            return review(asked.history, bool, lambda: step(case), style, asked.draws)
        return step(case)


def _knowledge(case: Case) -> str:
    """Which tables and columns the question needs; without competence one table is forgotten."""
    words = words_of(case.prompt.text)
    shown = {table: columns for table, columns in case.gold.spelt.items() if table.lower() in words}
    if shown and not case.happens("recalls", RECALLS):
        shown.pop(case.draws.pick("forgotten", sorted(shown)))
    if not shown:
        return "- No table is known that holds this."
    lines = [f"- {table} is read by {', '.join(columns) or 'its rows'}." for table, columns in shown.items()]
    listed = list(shown.items())
    for n, (table, columns) in enumerate(listed[1:], 1):
        before = next(((one, have) for one, have in listed[:n] if set(columns) & set(have)), None)
        if before is not None:
            joined = next(one for one in columns if one in before[1])
            lines.append(f"- {joined} joins {before[0]} and {table}.")
    return "\n".join(lines[:5])


def _cause(case: Case) -> str:
    """What is wrong with what was run, by the names that its error lists, else by those of the database."""
    found = _RUN.search(case.asked.last)
    if found is None or not found[2].strip():
        return "Nothing is told of what came of it, so the cause cannot be seen."
    line, spelt = next(action_lines(found[1]), None), case.gold.spelt
    names = [*spelt, *(one for columns in spelt.values() for one in columns)]
    text = found[1] if line is None else line.text
    fault = fault_in(text, found[2], names) if case.happens("recalls", RECALLS) else None
    return UNCAUSED if fault is None else MEANT.format(meant=fault.meant, stands=fault.wrong)


def _statement(case: Case) -> str:
    """A fenced statement, one that was looked over, or null where none answers."""
    gold, prompt = case.gold, case.prompt
    if not gold.sql:
        if prompt.grounds is not None and case.happens("sees the gap"):
            return "null: no table of the database holds what is asked."
        return f"```sql\nselect count(*) from {prompt.any_table}\n```"
    if draft := _DRAFT.search(case.asked.last):
        sql = draft[1].strip()
        if case.happens("looks over", LOOKS_OVER):
            better = repair(sql, find_unlisted(sql, prompt.tables))
            sql = better if better != sql else turn_back(sql, gold.question)
    else:
        sql = gold.sql if case.happens("right", case.facts(OPEN)) else case.wrong(gold.sql)
    return f"```sql\n{sql}\n```"


def _note(case: Case) -> str:
    if not case.gold.tables or not case.happens("recalls", RECALLS):
        return "The attempt took a name that is not there. Look at the lists of tables and columns first."
    used = "; ".join(f"{table} with {', '.join(columns) or 'its rows'}" for table, columns in case.gold.spelt.items())
    return f"A name or a comparison was mistaken. Use these tables next time: {used}."


def _class(case: Case) -> str:
    if len(re.findall(r"\bselect\b", case.gold.sql, re.IGNORECASE)) > 1:
        asked = "\n".join(f"- Which rows of {table} are meant?" for table in sorted(case.gold.tables))
        return f"Class: nested\nSub-questions:\n{asked}"
    return f"Class: {'non-nested' if len(case.gold.tables) > 1 else 'easy'}"


def _module(case: Case) -> str:
    found = _MODULE.search(case.asked.last)
    names = (_MODULES.findall(case.asked.last) or [found[2] if found else ""])[-1].split(", ")
    return module(names, int(found[1]) if found else 1, case)


def _by_heart(case: Case) -> str:
    """An answer for which nothing was looked up; where no table answers, that may be seen."""
    if not case.gold.sql:
        return case.gold.opinion(case.happens("sees the gap"), case.draws)
    return case.gold.opinion(case.happens("by heart", BY_HEART), case.draws)


_REPLIES: Mapping[str, Callable[[Case], str]] = {
    "ehragent/knowledge": _knowledge,
    "din_sql/linking": _knowledge,
    "ehragent/debug": _cause,
    "ehr_reflexion/reflect": _note,
    "din_sql/classification": _class,
    "chameleon/plan": module_names,
    "chameleon/module": _module,
    "cot_plan/problem": whole_plan,
}
