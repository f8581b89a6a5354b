"""DIN-SQL: links the schema, classifies the question, writes SQL in the way of its class, and corrects it once.

Source: Pourreza and Rafiei 2023, NeurIPS, arXiv 2304.11015, as a baseline in Shi et al. 2024 (EHRAgent), EMNLP, arXiv
2401.07128; rules of docs/papers/ehragent.md. Departures: every call is shown the same demonstrations, whose classes are
read off their SQL; they have no intermediate forms and no sub-questions.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.acting.solved import ShowsSolved, seeds_of
from components.core.protocols import Episode
from components.core.traits import PromptSetName
from components.core.types import Answer, Failure, Refusal
from components.ehr.sql_replies import NONE_GIVEN, Kind, answer_with_rows, database_facts, refused_in, statement_in
from components.prompts import load
from components.sql.complexity import tables_of

_KINDS: Mapping[str, Kind] = {"easy": "easy", "nonnested": "non_nested", "nested": "nested"}
_KIND = re.compile(r"\b(?:easy|(?:non[-_ \t]?)?nested)\b", re.IGNORECASE)
_LABELLED = re.compile(r"\b(?:class|label)\b[^\n]*", re.IGNORECASE)
_LISTED = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(.*\S)", re.MULTILINE)
_SELECT = re.compile(r"\bselect\b", re.IGNORECASE)


@dataclass(frozen=True)
class DinSql(ShowsSolved):
    """Four calls, each shown at most ``shots`` demonstrations; then the statement is run once, and its rows answer. The
    correction sees the text of the statement, not its rows; one that writes none leaves the statement as it was."""

    prompts: PromptSetName = "din_sql"

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Link, classify, write, correct, run."""
        prompts, metadata, offer = load(self.prompts), await database_facts(episode), episode.offer
        system = prompts.system("system", metadata=metadata, refusal_fields=offer.refusal_fields)
        shown = seeds_of(episode, metadata["database"], "sql")[: self.shots]
        values: dict[str, Any] = {"question": episode.problem.question.strip(), "demonstrations": shown}
        linking = await episode.ask([system, prompts.user("linking", **values)], "plan")
        values["links"] = linking.text.strip()
        kinds = [kind_of(str(one.data["sql"])) for one in shown]
        judged = await episode.ask([system, prompts.user("classification", kinds=kinds, **values)], "plan")
        kind = kind_in(judged.text)
        episode.remark(label=f"class: {kind}")
        listed = _LISTED.findall(judged.text) if kind == "nested" else []  # bullets, numbers
        parts = [line for line in listed if line.endswith("?")]
        draft = await episode.ask([system, prompts.user(kind, parts=parts, **values)], "act")
        sql = statement_in(draft.text)
        if (refusal := refused_in(draft.text, offer)) is not None or not sql:
            return refusal or NONE_GIVEN
        checked = await episode.ask([system, prompts.user("correction", sql=sql, **values)], "reflect")
        if (refusal := refused_in(checked.text, offer)) is not None:
            return refusal
        return await answer_with_rows(episode, checked, statement_in(checked.text) or sql)


def kind_in(text: str) -> Kind:
    """The class that a classification names: the first one behind the last "class" or "label" that any follows on its
    line, else the last one anywhere; nested when there is none."""
    labelled = [names[0] for line in _LABELLED.findall(text) if (names := _KIND.findall(line))]
    named = (labelled or _KIND.findall(text))[-1:]
    return _KINDS[re.sub(r"[-_ \t]", "", named[0].lower())] if named else "nested"


def kind_of(sql: str) -> Kind:
    """The class of a statement: nested with a second SELECT, else non-nested with a second table, else easy."""
    if len(_SELECT.findall(sql)) > 1:
        return "nested"
    return "non_nested" if len(tables_of(sql)) > 1 else "easy"
