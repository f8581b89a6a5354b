"""How sure an agent is of its answer (``agent.confidence``): asked for, read, and remarked on the step that states it.

``verbal``: grammars ask for it in the ending of an action; a plain question of a purpose that may end an episode gets a
line more. ``logprobs``: the geometric mean of the probabilities of the tokens of the answer, where it was written last,
of a choice those of its letter, where it was read: the length-normalised sequence probability of Malinin & Gales 2021
(ICLR, arXiv 2002.07650). ``samples`` is what draws of the agent say, and needs nothing here. A remark is a number from
0 to 1, or a text: why there is none.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from statistics import fmean
from typing import Any, Literal

import orjson

from components.core.messages import Message, Purpose, Sampling, continued
from components.core.types import Action, Problem, Step, Trajectory
from components.prompts import load
from components.text.answers import letter_place, parse_letter
from components.text.confidence import read_percentage, split_line

Confidence = Literal["verbal", "samples", "logprobs"]
ENDINGS: frozenset[Purpose] = frozenset({"act", "answer", "conclude"})  # purposes of replies that may hold the answer
PROMPTS, REMARK = "confidence", "confidence"
LOGPROBS = Sampling(logprobs=True)
_UNREAD = "the ending states none that can be read"
_NEVER_ASKED = "no question of this agent is known to be its last"
_SILENT = "the endpoint gave no log-probabilities of tokens"
_INVALID = "the endpoint gave an invalid log-probability (not a number of 0 or less) for a token of the answer"
_LEAST = -1e300  # of a log-probability, so that their sum is a number; the probability is 0 long before
_ELSEWHERE = "no reply with log-probabilities has the answer at exactly one place"


def with_request(messages: Sequence[Message]) -> list[Message]:
    """The messages of a plain question, with the line that is to state a confidence."""
    asked = continued(messages, Message("user", load(PROMPTS).render("plain")))
    return [*asked[:-1], replace(asked[-1], source=messages[-1].source)]


def take_line(step: Step) -> Message:
    """The reply to such a question without that line, which is remarked."""
    text, stated = split_line(step.reply.text)
    _remark(step, stated)
    return replace(step.reply, content=text)


def remark_action(step: Step, action: Action) -> None:
    """Remark what an action that ends an episode states."""
    if action.answer is not None or (action.last and action.calls):
        _remark(step, action.confidence)


def _remark(step: Step, stated: str | None) -> None:
    read = read_percentage(stated)
    step.remarks[REMARK] = _UNREAD if read is None else read


def remark_outcome(kind: Confidence | None, trajectory: Trajectory, problem: Problem) -> None:
    """Remark the probability of the answer, or why an answer has no confidence."""
    if kind not in ("verbal", "logprobs") or trajectory.answer is None or not (steps := trajectory.decisive):
        return
    if kind == "verbal":
        if not any(REMARK in step.remarks for step in steps):
            steps[-1].remarks[REMARK] = _NEVER_ASKED
        return
    asked = [step for step in steps if step.purpose in ENDINGS]
    answered = [step for step in asked if step.logprobs]
    for step in reversed(answered):
        if (found := answer_probability(step.logprobs, trajectory.answer, problem.choices)) is not None:
            step.remarks[REMARK] = found
            return
    steps[-1].remarks[REMARK] = _SILENT if asked and not answered else _ELSEWHERE


def answer_place(text: str, answer: str, choices: Mapping[str, str]) -> tuple[int, int] | None:
    """Begin and end of an answer in a reply, where it was written last, plain or as in JSON; of a choice of its letter.
    A letter alone is looked for between quotes or brackets, then where it is read in the whole reply. None where the
    answer is at no place, or a letter at several."""
    words, letter = answer.strip(), parse_letter(answer, choices) if choices else None
    if letter and words.strip(" .:()*") == letter:
        quoted = [match.span(1) for match in re.finditer(rf"[\"'>\[]\s*({letter})(?=\s*[\"'<\]|])", text)]
        place = quoted[-1] if quoted else letter_place(text, choices)
        return place if place is not None and text[slice(*place)] == letter else None
    for form in (words, orjson.dumps(words).decode()[1:-1]):
        if form and (begin := text.rfind(form)) >= 0:
            place = letter_place(form, choices) if letter else (0, len(form))
            return None if place is None else (begin + place[0], begin + place[1])
    return None


def answer_probability(
    tokens: Sequence[Mapping[str, Any]], answer: str, choices: Mapping[str, str]
) -> float | str | None:
    """The geometric mean of the probabilities of the tokens that say an answer; a text where one of them has no
    log-probability (natural logarithm); None where no tokens say it."""
    texts = [str(token.get("token") or "") for token in tokens]
    ends = list(accumulate(map(len, texts)))
    if (place := answer_place("".join(texts), answer, choices)) is None:
        return None
    begins = [0, *ends[:-1]]
    logprobs = [
        token.get("logprob", math.nan)
        for token, begin, end in zip(tokens, begins, ends, strict=True)
        if begin < place[1] and end > place[0]
    ]
    known = [max(_LEAST, one) for one in logprobs if type(one) in (int, float) and one <= 0]
    return math.exp(fmean(known)) if len(known) == len(logprobs) else _INVALID
