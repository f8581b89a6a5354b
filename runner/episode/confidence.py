"""How sure an agent is of its answer (``agent.confidence``): asked for, read, and remarked on the step that states it.

``verbal``: grammars ask for it in the ending of an action; a plain question of a purpose that may end an episode gets a
line more. ``logprobs``: the geometric mean of the probabilities of the tokens of the answer, where it was written last,
of a choice those of its letter: the length-normalised sequence probability of Malinin & Gales 2021 (ICLR, arXiv
2002.07650). ``samples`` is what draws of the agent say, and needs nothing here. A remark is a number from 0 to 1, or a
text: why there is none.
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
from components.text.answers import parse_letter
from components.text.confidence import read_percentage, split_line

Confidence = Literal["verbal", "samples", "logprobs"]
ENDINGS: frozenset[Purpose] = frozenset({"act", "answer", "conclude"})  # purposes of replies that may hold the answer
PROMPTS, REMARK = "confidence", "confidence"
LOGPROBS = Sampling(logprobs=True)
_UNREAD = "the ending states none that can be read"
_NEVER_ASKED = "no question of this agent is known to be its last"
_SILENT = "the endpoint gave no log-probabilities of tokens"
_ELSEWHERE = "no reply of which tokens are asked for has the answer in its words"


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
    patterns = _patterns(trajectory.answer, problem.choices)
    for step in reversed(answered):
        if (found := answer_probability(step.logprobs, patterns)) is not None:
            step.remarks[REMARK] = found
            return
    steps[-1].remarks[REMARK] = _SILENT if asked and not answered else _ELSEWHERE


def _patterns(answer: str, choices: Mapping[str, str]) -> list[re.Pattern[str]]:
    """What stands in a reply for an answer: the letter of a choice, else its words, plain or as in JSON."""
    if letter := parse_letter(answer, choices) if choices else None:
        return [re.compile(rf"(?<!\w){re.escape(letter)}(?!\w)")]
    texts = dict.fromkeys((answer.strip(), orjson.dumps(answer.strip()).decode()[1:-1]))
    return [re.compile(re.escape(text)) for text in texts if text]


def answer_probability(tokens: Sequence[Mapping[str, Any]], patterns: Sequence[re.Pattern[str]]) -> float | None:
    """The geometric mean of the probabilities of the tokens in the last place of the first pattern that is there; None
    where none is, or one of these tokens has no log-probability (natural logarithm)."""
    texts = [str(token["token"]) for token in tokens]
    whole, ends = "".join(texts), list(accumulate(map(len, texts)))
    places = [found[-1] for pattern in patterns if (found := list(pattern.finditer(whole)))]
    if not places:
        return None
    begins = [0, *ends[:-1]]
    logprobs = [
        token["logprob"]
        for token, begin, end in zip(tokens, begins, ends, strict=True)
        if begin < places[0].end() and end > places[0].start()
    ]
    known = all(isinstance(one, int | float) and not math.isnan(one) for one in logprobs)
    return min(1.0, math.exp(fmean(logprobs))) if known else None
