"""Names of scores that a scorer gives and that sections of the report or ratings know."""

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
