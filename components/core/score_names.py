"""Names of scores that a scorer gives and that sections of the report or ratings know; and what values scores have."""

from typing import Final

from components.core.types import ScoreKind

JUDGED = "judged/{}/{}/{}"  # rubric, field, category

EXPECTED, RATED, NO_ERROR, SEVERE = HARM = ("harm/expected", "harm/rated", "harm/no_error", "harm/severe")
ERROR, LEVEL = "harm/errors/{}", "harm/level/{}"  # type of error; level of severity

SUPPORTED, UNUSED, CONTRADICTED, AFTER, BEFORE, SOUND = RATES = (
    "audit/supported", "audit/unused", "audit/contradicted", "audit/calls_after", "audit/before_evidence",
    "audit/sound",
)  # fmt: skip
CELLS = RIGHT_SOUND, RIGHT_UNSOUND, WRONG_SOUND, WRONG_UNSOUND = (
    "audit/right_sound", "audit/right_unsound", "audit/wrong_sound", "audit/wrong_unsound",
)  # fmt: skip

STATED, REFUSED_RIGHTLY, REFUSED_WRONGLY = "confidence/stated", "abstention/right", "abstention/wrong"
LARGEST: Final = 1e100  # number: sums of squares of larger ones are infinite
SLACK: Final = 1e-9  # what rounding may add
_AT_MOST_1 = frozenset({EXPECTED, SUPPORTED, UNUSED, STATED})


def range_of(name: str, kind: ScoreKind) -> tuple[float, float]:
    """What no score is below or above. Shares that no section computes with may exceed 1: some published ones do."""
    at_most_1 = kind == "proportion" or name in _AT_MOST_1
    return -LARGEST if kind == "number" else 0.0, 1.0 if at_most_1 else LARGEST
