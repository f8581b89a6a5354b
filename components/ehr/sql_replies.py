"""The SQL statement in a model's reply, run once through the sample's tool: for agents whose answer is a statement.

Source: docs/papers/ehragent.md (the baselines LLM2SQL and DIN-SQL of Shi et al. 2024, EMNLP, arXiv 2401.07128): the
answer is the statement's rows, and an error leaves the question unfinished. Departure: where a task may be refused, the
word ``null`` in place of a statement refuses it.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

from components.acting.action_lines import call_of
from components.core.errors import ActionError, ConfigError
from components.core.messages import Message
from components.core.protocols import Episode
from components.core.tools import Offer
from components.core.types import Action, Answer, Failure, Refusal

TOOL = "SQLInterpreter"
NONE_GIVEN = Failure("unparsable_reply", "the reply holds no SQL statement")
Kind = Literal["easy", "non_nested", "nested"]


async def database_facts(episode: Episode) -> Mapping[str, Any]:
    """What is known of the sample's database. Raises ConfigError where nothing that is offered runs SQL."""
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
