"""Skill: what is asked on health records in one message: knowledge, causes, statements, plans, notes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from components.acting.action_lines import action_lines
from components.core.messages import Message, ToolSpec
from components.core.types import Sample
from components.models.simulated.dialogue import REFINE, SELECT, read_consultation
from components.models.simulated.draws import Draws
from components.models.simulated.rates import Rates
from components.models.simulated.review import review
from components.models.simulated.skills.acting import act, module, module_names, whole_plan
from components.models.simulated.skills.coding import code
from components.models.simulated.skills.knowing import LOOKS_OVER, OPEN, RECALLS, SILENT, right_rate
from components.models.simulated.skills.opinions import Voice
from components.models.simulated.skills.record_key import BY_HEART, Gold, gold_of
from components.models.simulated.skills.repairs import fault_in, repaired, turned_back, unlisted
from components.models.simulated.skills.slips import wrong
from components.models.simulated.skills.told import PROSE, Reading, Told, done, said
from components.models.simulated.skills.write import Style

UNCAUSED = "A name or a value may not be there as it is written."
_MODULE = re.compile(r"^Next, as number (\d+), comes (\w+)\.", re.MULTILINE)
_MODULES = re.compile(r"^Modules, in their order: (.*)$", re.MULTILINE)
_RUN = re.compile(r"What was run:\n(.*?)\n\nWhat came of it:\n(.*?)\n\nMost likely cause:\Z", re.DOTALL)
_DRAFT = re.compile(r"^Statement:\n```sql\n(.*?)\n```", re.DOTALL | re.MULTILINE)
_CONCLUDE = ("Now answer the question", "Now write your opinion")


def on_records(
    messages: Sequence[Message], tools: Sequence[ToolSpec], sample: Sample, voice: Voice, rates: Rates, draws: Draws,
    reading: Reading,
) -> Message:  # fmt: skip
    """The reply to whatever is asked; what it is stands in the last message, else in the first ones."""
    if draws.happens("malformed", rates.malformed):
        return said(draws.pick("prose", PROSE))
    gold, told, last = gold_of(sample), reading.read(messages, tools), messages[-1].text
    if any(words in last for words in _CONCLUDE):
        return said(voice.worded(_concluded(messages, gold, rates, draws), draws))
    single = _single(last, gold, told, rates, draws) if messages[-1].role == "user" else None
    if single is not None:
        return said(single)
    if told.channel is None:
        return said(voice.worded(_by_heart(gold, rates, draws), draws))
    if voice.field:
        told = replace(told, says=partial(voice.worded, draws=draws))
    step = code if told.runs_code else act
    if last.endswith((SELECT, REFINE)):  # a verifier's question; one proposal is as good as another here
        style: Style = told.channel if told.channel in ("native", "xml") else "bracket"
        better = partial(step, messages, gold, told, rates, draws)
        return review(read_consultation(messages, tools), bool, better, style, draws)
    return step(messages, gold, told, rates, draws)


def _single(last: str, gold: Gold, told: Told, rates: Rates, draws: Draws) -> str | None:
    """What stands alone; None for a step of a dialogue."""
    if last.endswith("Most likely cause:"):
        return cause(last, gold, rates, draws)
    if last.endswith(("\nKnowledge:", "\nSchema links:")):
        return knowledge(gold, told, rates, draws)
    if "Write a note to yourself" in last:
        return note(gold, told, rates, draws)
    if last.endswith("Classify this question."):
        return _classified(gold)
    if "Reply with the names alone" in last:
        return module_names(gold, told, rates, draws)
    if found := _MODULE.search(last):
        names = (_MODULES.findall(last) or [found[2]])[-1].split(", ")
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


def cause(last: str, gold: Gold, rates: Rates, draws: Draws) -> str:
    """What is wrong with what was run, by what came of it: with the names that the error lists, else with those that
    are known of the database."""
    found = _RUN.search(last)
    if found is None or not found[2].strip():
        return "Nothing is told of what came of it, so the cause cannot be seen."
    line, known = next(action_lines(found[1]), None), draws.happens("recalls", rates.competence**RECALLS)
    names = [*gold.spelt, *(one for columns in gold.spelt.values() for one in columns)]
    fault = fault_in(found[1] if line is None else line.text, found[2], names) if known else None
    return UNCAUSED if fault is None else str(fault)


def statement(last: str, gold: Gold, told: Told, rates: Rates, draws: Draws) -> str:
    """A fenced statement, one that was looked over, or null where none answers."""
    if not gold.sql:
        if told.refusal is not None and draws.happens("sees the gap", rates.competence):
            return "null: no table of the database holds what is asked."
        return f"```sql\nselect count(*) from {told.any_table}\n```"
    if draft := _DRAFT.search(last):
        looks = draws.happens("looks over", rates.competence**LOOKS_OVER)
        return f"```sql\n{_looked_over(draft[1].strip(), gold, told) if looks else draft[1].strip()}\n```"
    if draws.happens("right", right_rate(gold, told, rates, OPEN)):
        return f"```sql\n{gold.sql}\n```"
    return f"```sql\n{wrong(gold.sql, gold.may_misspell, SILENT, draws)}\n```"


def _looked_over(sql: str, gold: Gold, told: Told) -> str:
    """A statement with a name that the schema lacks, or a comparison that the question does not speak of, mended."""
    mended = repaired(sql, unlisted(sql, told.tables))
    return mended if mended != sql else turned_back(sql, gold.question)


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
    """An answer that nothing was looked up for; where no table answers, it is seen that there is none."""
    if not gold.sql:
        return gold.by_heart(draws.happens("sees the gap", rates.competence), draws)
    return gold.by_heart(draws.happens("by heart", rates.competence**BY_HEART), draws)


def _concluded(messages: Sequence[Message], gold: Gold, rates: Rates, draws: Draws) -> str:
    """The answer after the last call: what it returned, where there was one."""
    seen = [one.saw for one in done(messages) if one.saw]
    return seen[-1] if seen else _by_heart(gold, rates, draws)
