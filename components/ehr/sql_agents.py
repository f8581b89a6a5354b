"""Agents whose answer is one SQL statement, run once through the sample's tool: LLM2SQL and DIN-SQL.

LLM2SQL writes it in one call: Nan et al. 2023, arXiv 2305.12586 (prompts of schema, demonstrations and question).
DIN-SQL links the schema, classifies the question, writes in the way of its class, and corrects once: Pourreza and
Rafiei 2023, NeurIPS, arXiv 2304.11015; departure: every call is shown the same demonstrations, whose classes are read
off their SQL; they have no intermediate forms and no sub-questions. Both as baselines in Shi et al. 2024 (EHRAgent),
EMNLP, arXiv 2401.07128; rules of docs/papers/ehragent.md: the answer is the statement's rows, and an error leaves the
question unfinished. Departure: where a task may be refused, the word ``null`` in place of a statement refuses it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from components.acting.arguments import call_of
from components.acting.solved import ShowsSolved, seeds_of
from components.core.errors import ActionError, ConfigError
from components.core.messages import Message
from components.core.protocols import Episode
from components.core.tools import Offer
from components.core.traits import PromptSetName
from components.core.types import Action, Answer, Failure, Refusal
from components.prompts import load
from components.sql.complexity import tables_of

TOOL = "SQLInterpreter"
NONE_GIVEN = Failure("unparsable_reply", "the reply holds no SQL statement")
Kind = Literal["easy", "non_nested", "nested"]


async def database_facts(episode: Episode) -> Mapping[str, Any]:
    """The metadata of the sample's database. Raises ConfigError if no offered tool runs SQL."""
    if TOOL not in episode.offer.tools:
        have = ", ".join(episode.offer.tools) or "none"
        raise ConfigError(f"the agent's statement is run by the tool {TOOL}; offered are {have}: choose toolset=ehr")
    return (await episode.control("metadata")).data


async def answer_with_rows(episode: Episode, reply: Message, sql: str) -> Answer | Failure:
    """Run a statement as a call of the step that was asked last, and answer with its rows as Python writes them."""
    if not sql:
        return NONE_GIVEN
    try:
        call = call_of(TOOL, sql, episode.offer.tools)
    except ActionError as error:
        return Failure(error.label, str(error))
    episode.remark(sql=sql)
    await episode.observe(Action(reply, calls=(call,)))
    seen = episode.last.observed[-1]
    if seen.error is not None:
        return Failure(seen.error, seen.observation.text)
    rows = seen.observation.data.get("value", seen.observation.text)
    return Failure("too_large", "the rows are too long for an answer") if rows is None else Answer(rows)


_FENCE = re.compile(r"```(?:[ \t]*sql(?:ite)?\b)?(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n\s*\n")
_BEGIN = r"(?:select\b|with\s[^.?!]{0,300}?\bas\b[^.?!(]{0,30}\()"  # a sentence may begin with With

_QUERY = re.compile(rf"(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*+{_BEGIN}", re.DOTALL | re.IGNORECASE)
# Bullets, emphasis and a label such as "Corrected SQL:" may stand before a statement without a fence.
_BARE = re.compile(
    rf"^[ \t>*_`-]*(?:[a-z][\w -]{{0,30}}:[ \t*_`]*)?({_BEGIN}.*)", re.DOTALL | re.IGNORECASE | re.MULTILINE
)
_STATEMENT = re.compile(
    r"""(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|/\*.*?\*/|[^;])++""", re.DOTALL
)  # fmt: skip
_NULL = re.compile(r"(?:sql(?:ite)?\s+|[a-z][\w -]{0,30}:\s*)?null(?:[\s`*]*[:,.;-]\s*(?P<reason>.+))?", re.IGNORECASE)


def statement_in(text: str) -> str:
    """The last statement of a reply: of the last fenced block that holds one, else of the last paragraph that begins
    one on a line of its own. Empty when there is none; what a fenced block holds besides a query is not judged here."""
    blocks = [block for block in _FENCE.findall(text) if block.strip()]
    if blocks:
        pieces = _pieces(next((block for block in reversed(blocks) if _QUERY.match(block)), blocks[-1]))
        return pieces[-1] if pieces else ""
    found = [match[1] for part in _BLANK_LINES.split(text) if (match := _BARE.search(part))]
    queries = [piece for piece in _pieces(found[-1]) if _QUERY.match(piece)] if found else []
    return queries[-1] if queries else ""


def refused_in(text: str, offer: Offer) -> Refusal | None:
    """The refusal that a reply is: no query, and a line that is ``null``, with or without a reason after it."""
    if not offer.may_refuse or _QUERY.match(statement_in(text)):
        return None
    for line in text.splitlines():
        if said := _NULL.fullmatch(line.strip("`*_\"' \t;.")):
            return Refusal(dict.fromkeys(offer.refusal_fields, said["reason"] or "null"))
    return None


def _pieces(text: str) -> list[str]:
    """The statements of a text, parted by semicolons outside of quotes and comments, without those of comments only."""
    pieces = [piece.strip() for piece in _STATEMENT.findall(text)]
    if text.count("`") % 2:  # the end of a quotation that began before the statement
        pieces = [piece.rstrip("`*_ \n") for piece in pieces]
    return [piece for piece in pieces if re.sub(r"--[^\n]*|/\*.*?\*/|\s", "", piece, flags=re.DOTALL)]


@dataclass(frozen=True)
class Llm2Sql(ShowsSolved):
    """Writes SQL below at most ``shots`` demonstrations; its rows are the answer, its error is a failure."""

    prompts: PromptSetName = "llm2sql"

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Write, then run."""
        prompts, metadata = load(self.prompts), await database_facts(episode)
        shown, fields = seeds_of(episode, metadata["database"], "sql")[: self.shots], episode.offer.refusal_fields
        system = prompts.system("system", metadata=metadata, demonstrations=shown, refusal_fields=fields)
        reply = await episode.ask([system, prompts.user("problem", question=episode.problem.question.strip())], "act")
        return refused_in(reply.text, episode.offer) or await answer_with_rows(episode, reply, statement_in(reply.text))


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
