"""Skill: what is asked on health records in one message: knowledge, causes, statements, plans, notes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeGuard

from components.action_lines import action_lines
from components.messages import Message, ToolSpec
from components.models.simulated.dialogue import REFINE, SELECT, read_consultation
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.review import review
from components.models.simulated.skills.acting import act, chosen, module, module_names, whole_plan
from components.models.simulated.skills.coding import code, right_cells, wrong
from components.models.simulated.skills.knowing import OPEN, SILENT, right_rate
from components.models.simulated.skills.programs import FUNCTIONS
from components.models.simulated.skills.slips import lacking
from components.models.simulated.skills.told import Gold, Told, done, gold_of, read_told, said
from components.models.simulated.skills.write import Style
from components.types import Sample

RECALLS = 0.5  # facts that knowledge takes, and the cause of a failure
CORRECTS = 0.2  # a wrong statement is corrected on second thought
BY_HEART = 12.0  # facts that an answer takes without looking
_MODULE = re.compile(r"^Next, as number (\d+), comes (\w+)\.", re.MULTILINE)
_MODULES = re.compile(r"^Modules, in their order: (.*)$", re.MULTILINE)
_RUN = re.compile(r"What was run:\n(.*?)\n\nWhat came of it:\n", re.DOTALL)
_DRAFT = re.compile(r"^Statement:\n```sql\n(.*?)\n```", re.DOTALL | re.MULTILINE)
_CONCLUDE = ("Now answer the question", "Now write your opinion")


def is_records(sample: Sample | None) -> TypeGuard[Sample]:
    """Whether the answer key's sample is a question on health records."""
    if sample is None or "task" in sample.metadata or "sql_dialect" not in sample.metadata:
        return False
    return isinstance(sample.target, Mapping) and isinstance(sample.target.get("answer"), list | None)


def on_records(
    messages: Sequence[Message], tools: Sequence[ToolSpec], sample: Sample, rates: Rates, draws: Draws
) -> Message:  # fmt: skip
    """The reply to whatever is asked; what it is stands in the last message, else in the first ones."""
    gold, told, last = gold_of(sample), read_told(messages, tools), messages[-1].text
    if any(words in last for words in _CONCLUDE):
        return said(_concluded(messages, gold, rates, draws))
    single = _single(last, gold, told, rates, draws) if messages[-1].role == "user" else None
    if single is not None:
        return said(single)
    if told.channel is None:
        return said(_by_heart(gold, rates, draws))
    step = code if told.runs_code else act
    if last.endswith((SELECT, REFINE)):  # a verifier's question; one proposal is as good as another here
        style: Style = told.channel if told.channel in ("native", "xml") else "bracket"
        better = partial(step, messages, gold, told, rates, draws)
        return review(read_consultation(messages, tools), bool, better, style, draws)
    return step(messages, gold, told, rates, draws)


def _single(last: str, gold: Gold, told: Told, rates: Rates, draws: Draws) -> str | None:
    """What stands alone; None for a step of a dialogue."""
    if last.endswith("Most likely cause:"):
        return cause(last, gold, told, rates, draws)
    if last.endswith(("\nKnowledge:", "\nSchema links:")):
        return knowledge(gold, told, rates, draws)
    if "Write a note to yourself" in last:
        return note(gold, told, rates, draws)
    if last.endswith("Classify this question."):
        return _classified(gold)
    if "Reply with the names alone" in last:
        return module_names(gold, told, rates, draws)
    if found := _MODULE.search(last):
        names = _MODULES.findall(last)[-1].split(", ")
        return module(names, int(found[1]), gold, told, rates, draws)
    if "below it the numbered actions" in last:
        return whole_plan(gold, told, rates, draws)
    return statement(last, gold, told, rates, draws) if "between ```sql and ```" in told.text else None


def knowledge(gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """Which tables and columns the question needs; without competence one table is forgotten."""
    shown = {table: columns for table, columns in gold.spelt.items() if table.lower() in told.words}
    if shown and not draws.happens("recalls", rates.competence**RECALLS):
        shown.pop(draws.pick("forgotten", sorted(shown)))
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


def cause(last: str, gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """What is wrong with what was run, by what it differs in from what is right."""
    found, able = _RUN.search(last), Told(f"{told.text}\n{' '.join(FUNCTIONS)}")
    ran = found[1] if found else ""
    if line := next(action_lines(ran), None):
        ran = line.text
    rights = [*right_cells(gold, able, draws), *chosen(gold, able, draws, [ran.partition("[")[0]])]
    right = min(rights, key=lambda one: len(lacking(one, ran)) + len(lacking(ran, one)))
    should, stands = lacking(right, ran), lacking(ran, right)
    if not (should or stands) or not draws.happens("recalls", rates.competence**RECALLS):
        return "A name or a value may not be there as it is written."
    if not should:
        return f"`{stands[-1]}` does not belong there."
    return f"`{should[0]}` is meant where `{stands[0]}` stands." if stands else f"`{should[0]}` is missing."


def statement(last: str, gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """A fenced statement, a corrected one, or null where none answers."""
    if not gold.sql:
        if told.refusal is not None and draws.happens("sees the gap", rates.competence):
            return "null: no table of the database holds what is asked."
        return f"```sql\nselect count(*) from {told.any_table}\n```"
    if draft := _DRAFT.search(last):
        right = draft[1].strip() == gold.sql or not draws.happens("corrects", CORRECTS)
        return f"```sql\n{draft[1].strip() if right else gold.sql}\n```"
    if draws.happens("right", right_rate(gold, told, rates, OPEN)):
        return f"```sql\n{gold.sql}\n```"
    return f"```sql\n{wrong(gold.sql, gold.names - gold.tables, SILENT, draws)}\n```"


def note(gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """A note on an attempt; with competence it names the tables and columns to use."""
    if not gold.tables or not draws.happens("recalls", rates.competence**RECALLS):
        return "The attempt took a name that is not there. Look at the lists of tables and columns first."
    used = "; ".join(f"{table} with {', '.join(columns) or 'its rows'}" for table, columns in gold.spelt.items())
    return f"A name or a comparison was mistaken. Use these tables next time: {used}."


def _classified(gold: Gold) -> str:
    """The class of the statement and, of a nested one, smaller questions."""
    if len(re.findall(r"\bselect\b", gold.sql, re.IGNORECASE)) > 1:
        asked = "\n".join(f"- Which rows of {table} are meant?" for table in sorted(gold.tables))
        return f"Class: nested\nSub-questions:\n{asked}"
    return f"Class: {'non-nested' if len(gold.tables) > 1 else 'easy'}"


def _by_heart(gold: Gold, rates: Rates, draws: Draws) -> str:
    """An answer that nothing was looked up for."""
    if not gold.sql:
        return "no result" if draws.happens("sees the gap", rates.competence) else "1"
    known = draws.happens("by heart", rates.competence**BY_HEART)
    return str(list(gold.answer)) if known else str(1 + int(draws.share("guess") * 40))


def _concluded(messages: Sequence[Message], gold: Gold, rates: Rates, draws: Draws) -> str:
    """The answer after the last call: what it returned, where there was one."""
    seen = [one.saw for one in done(messages) if one.saw]
    return seen[-1] if seen else _by_heart(gold, rates, draws)
