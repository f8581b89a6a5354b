"""Multiple choice, and choices where not knowing is the right answer.

======================================  ================================================================
official (the reference, quirks too)    strict
======================================  ================================================================
the gold text anywhere in the marked    the letter, the decision (yes, no, maybe) or the option's text
answer, also inside other words         that the answer chooses, read as words
letter and full stop anywhere in it     a letter that is said, stands alone or begins the answer
(B), "Answer: B" are not recognised     they are
tolerant: the letter with a full stop   the same reader as for other choices
is never found
an accepted refusal inside words        where a word begins, or in the option that the answer chooses; a
                                        refusal of the task counts where it cannot be known
======================================  ================================================================
"""

import re
from collections.abc import Mapping, Sequence

from components.cab.scorers.case import Case, Reading, Unscored
from components.cab.scorers.texts import begins, holds, plain
from components.text.answers import DECISIONS, conclusion, marked, parse_decision, parse_letter, sentence

_UNREAD = "ABCDEFGH"  # letters that options may have whose texts are not known
_UNKNOWABLE = re.compile(
    r"\b(?:can ?not be answered|can't be answered|unanswerable|(?:do not|don't) know|not enough information)\b",
    re.IGNORECASE,
)


def official(case: Case) -> Reading:
    """The reference's accuracy, in any case of letters where not knowing may be right."""
    reply = marked(case.answer)
    tolerant = case.form == "tolerant_choice"
    if tolerant and (accepted := _accepted(case)) is not None:
        return Reading(float(any(text.lower() in reply.lower() for text in accepted)), reply, accepted)
    letter, text = _gold(case)
    place, part = (reply.lower(), text.lower()) if tolerant else (reply, text)
    return Reading(float(part in place or f"{letter}." in place or reply == letter), reply, f"{letter}. {text}")


def strict(case: Case) -> Reading:
    """Accuracy on the letter that can be read, or an accepted refusal in words where not knowing may be right."""
    if case.form == "tolerant_choice" and (accepted := _accepted(case)) is not None:
        chosen = read_letter(case.answer, case.choices)
        reply = conclusion(case.answer) if chosen is None else case.choices[chosen]
        return Reading(float(any(begins(reply, text) for text in accepted)), reply, accepted)
    letter, text = _gold(case)
    read = read_letter(case.answer, case.choices or {**dict.fromkeys(_UNREAD, ""), letter: text})
    return Reading(float(read == letter), read, letter)


def expects_refusal(case: Case) -> bool:
    """Whether the right answer is that the question cannot be answered."""
    return _accepted(case) is not None or _UNKNOWABLE.search(_gold(case)[1]) is not None


def read_letter(answer: str, choices: Mapping[str, str]) -> str | None:
    """The letter that an answer chooses: in its concluding sentence, else in its conclusion, else anywhere."""
    for part in (sentence(answer), conclusion(answer), answer):
        if (letter := _letter(part, choices)) is not None:
            return letter
    return None


def _letter(text: str, choices: Mapping[str, str]) -> str | None:
    """The letter by the option's whole text, by a letter or decision, by the longest option in the text."""
    whole = plain(text)
    for letter, option in choices.items():
        if whole and whole == plain(option):
            return letter
    by_decision = {option.strip().lower(): letter for letter, option in choices.items()}
    if by_decision and by_decision.keys() <= set(DECISIONS):
        letter_only = parse_letter(text, dict.fromkeys(choices, ""))
        return letter_only or by_decision.get(parse_decision(text, tuple(by_decision)) or "")
    if (read := parse_letter(text, choices)) is not None:
        return read
    named = [letter for letter, option in choices.items() if plain(option) and holds(text, option)]
    longest = [one for one in named if all(holds(choices[one], choices[other]) for other in named)]
    return longest[0] if len(longest) == 1 else None


def _gold(case: Case) -> tuple[str, str]:
    """The letter and text of the right option; both are the key where the options are in the question only."""
    if not case.choices and isinstance(case.target, Mapping):
        return str(case.value("answer_idx")), str(case.value("answer"))
    if not isinstance(case.target, str) or case.target not in case.choices:
        raise Unscored(f"the target must be one of the letters {list(case.choices)}, found {case.target!r:.80}")
    return case.target, case.choices[case.target]


def _accepted(case: Case) -> Sequence[str] | None:
    """The refusals that are right; None where a letter is."""
    if not isinstance(case.target, Mapping) or "answer_idx" in case.target:
        return None
    accepted = case.value("accepted")
    if not isinstance(accepted, Sequence) or isinstance(accepted, str) or not accepted:
        raise Unscored(f"the accepted refusals must be a list of texts, found {accepted!r:.80}")
    return [str(text) for text in accepted]
