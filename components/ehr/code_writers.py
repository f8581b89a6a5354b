"""Agents that write SQL or code for a database and have it run: LLM2SQL, DIN-SQL and Self-Debugging.

All as baselines in Shi et al. 2024 (EHRAgent), EMNLP, arXiv 2401.07128; rules of docs/papers/ehragent.md. Of the first
two the answer is the statement's rows, and an error leaves the question unfinished. Departure: where a task may be
refused, the word ``null`` in place of a statement refuses it.

``Llm2Sql`` (Nan et al. 2023, arXiv 2305.12586) writes it in one call from schema, demonstrations and question.
``DinSql`` (Pourreza and Rafiei 2023, NeurIPS, arXiv 2304.11015) links the schema, classifies the question, writes SQL
in the way of its class, and corrects it once. Departures: every call is shown the same demonstrations, whose classes
are read off their SQL; they have no intermediate forms and no sub-questions.
``SelfDebugging`` (Chen et al. 2024, ICLR, arXiv 2304.05128) writes a cell, runs it, and explains it to itself line by
line until it calls it right; one call holds the explanation and either the verdict or the whole new cell. Departure: a
run that is never called right has no answer, as with the other agents.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from annotated_types import Ge

from components.acting.action_lines import call_of
from components.acting.solved import ShowsSolved, seeds_of
from components.core.errors import ActionError, ConfigError
from components.core.messages import Message
from components.core.protocols import Episode
from components.core.tools import Offer
from components.core.traits import PromptSetName, Requirements
from components.core.types import Action, Answer, Failure, Observed, Refusal
from components.ehr.python_cell import PythonCell, cell_of
from components.prompts import load
from components.sql.complexity import tables_of

TOOL = "SQLInterpreter"
_NONE_GIVEN = Failure("unparsable_reply", "the reply holds no SQL statement")

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
Kind = Literal["easy", "non_nested", "nested"]
_KINDS: Mapping[str, Kind] = {"easy": "easy", "nonnested": "non_nested", "nested": "nested"}
_KIND = re.compile(r"\b(?:easy|(?:non[-_ \t]?)?nested)\b", re.IGNORECASE)
_LABELLED = re.compile(r"\b(?:class|label)\b[^\n]*", re.IGNORECASE)
_LISTED = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(.*\S)", re.MULTILINE)
_SELECT = re.compile(r"\bselect\b", re.IGNORECASE)
_CELL = (PythonCell(described=False),)


async def database_facts(episode: Episode) -> Mapping[str, Any]:
    """What is known of the sample's database. Raises ConfigError where nothing that is offered runs SQL."""
    if TOOL not in episode.offer.tools:
        have = ", ".join(episode.offer.tools) or "none"
        raise ConfigError(f"the agent's statement is run by the tool {TOOL}; offered are {have}: choose toolset=ehr")
    return (await episode.control("metadata")).data


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


async def answer_with_rows(episode: Episode, reply: Message, sql: str) -> Answer | Failure:
    """Run a statement as a call of the step that was asked last, and answer with its rows as Python writes them."""
    if not sql:
        return _NONE_GIVEN
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
            return refusal or _NONE_GIVEN
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


@dataclass(frozen=True)
class SelfDebugging(ShowsSolved):
    """At most ``max_steps`` cells, shown ``shots`` demonstrations, and after each one call that explains it. Of a cell
    the model sees its result or its whole traceback. Every new cell is run and explained, whatever verdict comes with
    it; a reply with neither a cell nor a verdict gets a reminder and counts as a cell."""

    prompts: PromptSetName = "self_debugging"
    max_steps: Annotated[int, Ge(1)] = 10

    @property
    def requirements(self) -> Requirements:
        """With the tool that runs a cell, and no other."""
        return replace(super().requirements, tools=_CELL, only_own_tools=True)

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Write, then run and explain until the verdict."""
        prompts, metadata = load(self.prompts), (await episode.control("metadata")).data
        run: Observed | None = None
        shown = seeds_of(episode, metadata["database"], "code")[: self.shots]
        question = episode.problem.question.strip()
        task = prompts.user("problem", metadata=metadata, demonstrations=shown, question=question)
        fields = episode.offer.refusal_fields
        messages = [prompts.system("review_system", metadata=metadata, refusal_fields=fields), task]
        action = await episode.act([prompts.system("system", instructions=episode.instructions()), task])
        executions, ended = 0, _ended(action, run)
        while ended is None and executions < self.max_steps:
            executions += 1
            seen = await episode.observe(action)
            message, result = action.message, Message("user", seen[-1].text)
            if message.tool_calls:  # the calls that explain offer no function: a cell sent to one is a text there
                message = prompts.assistant("cell", cell=cell_of(action))
            if action.error is None:
                run = episode.last.observed[-1]
                trace = (run.observation.data.get("error") or {}).get("traceback")
                result = prompts.user("review", told=trace or run.observation.text)
            messages += [message, result]
            action = episode.parse(await episode.ask(messages, "reflect"))
            ended = _ended(action, run)
        episode.remark(executions=executions, terminated=ended is not None)
        return ended or Failure("step_limit", f"no cell was called right within {self.max_steps} executions")


def _ended(action: Action, run: Observed | None) -> Answer | Refusal | Failure | None:
    """The outcome that a reply states. A verdict comes without a cell, or with lines of the last one as quotations."""
    if action.refusal is not None:
        return action.refusal
    quotes = action.last and run is not None and _lines(cell_of(action)) <= _lines(str(run.call.parsed.get("cell")))
    if action.answer is None and not quotes:
        return None
    data = {} if run is None else run.observation.data
    if data.get("status") != "ok":
        return Failure("no_answer", "the last execution gave no value")
    return Answer(data["answer"])


def _lines(cell: str) -> set[str]:
    """The lines of a cell, however they are indented."""
    return {line.strip() for line in cell.splitlines() if line.strip()}
