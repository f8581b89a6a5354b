"""A question on health records as a prompt asks it, and how often what is written for it is right, or repaired.

Everything is done with ``competence`` to the power of the facts it takes: few where the prompt knows the tables that
the question needs and shows a solved question about the same tables and columns; few where a cause says what is wrong,
many where a failure hardly says it. Take a text out of the prompt, and its effect is gone. The constants are made up.
"""

from dataclasses import dataclass

from components.core.messages import Message
from components.ehr.simulated.gold import Gold
from components.ehr.simulated.prompt import Prompt
from components.ehr.simulated.repairs import is_caused, is_named
from components.ehr.simulated.slips import wrong
from components.simulation.asked import Asked
from components.simulation.draws import Draws

FACTS, FACTS_TABLE = 2.0, 0.6  # that a cell takes, and more for each table after the first
UNKNOWN, UNLIKE = 4.0, 6.0  # more where no knowledge names the tables, where no solved question is about the same
UNSEEN = 6.0  # more where its tables and columns are nowhere in the prompt
NO_CODE, OPEN = 5.0, 3.0  # more without code, and without seeing what comes of it
CAUSE, NAMED, BARE, RAW = 0.6, 8.5, 10.0, 13.0  # repairs: a cause says what is meant; the error does; or not; a trace
BY_HAND = 3.0  # more without code
MENDS_UNKNOWN, MENDS_UNLIKE = 2.2, 2.2  # more without knowledge and a solved question
SILENT = 0.2  # of what is wrong runs all the same
GIVES_WAY = 0.5  # of failures that are not repaired, one becomes something that runs and is wrong
RECALLS = 0.5  # that knowledge, notes and causes take
LOOKS_OVER = 6.0  # that it takes to see a turned comparison, or a name that is not listed, in what is looked over
TRACE = "Traceback"


@dataclass(frozen=True)
class Case:
    """What is asked, the answer key's part, and what the prompt says."""

    asked: Asked
    gold: Gold
    prompt: Prompt

    @property
    def draws(self) -> Draws:
        """Of this request."""
        return self.asked.draws

    def happens(self, what: str, facts: float = 1.0, whole: bool = False) -> bool:
        """True as often as this many facts are known."""
        return self.draws.happens(what, float(self.asked.rates.competence**facts), whole)

    @property
    def is_known(self) -> bool:
        """Whether the knowledge that is given names all tables."""
        return bool(self.gold.tables) and self.gold.tables <= self.prompt.known_words

    @property
    def is_alike(self) -> bool:
        """Whether a solved question is about all of its tables and columns."""
        return bool(self.gold.names) and any(self.gold.names <= words for words in self.prompt.solved_words)

    def facts(self, more: float = 0.0) -> float:
        """How many facts writing takes; ``more`` for the way it is written."""
        facts = FACTS + FACTS_TABLE * max(0, len(self.gold.tables) - 1) + more
        facts += UNKNOWN * (not self.is_known) + UNLIKE * (not self.is_alike)
        return facts + UNSEEN * (not self.gold.names <= self.prompt.words)

    def facts_to_mend(self, text: str, failed: str, more: float = 0.0) -> float:
        """How many facts mending takes, by what is said of the failure."""
        if is_caused(text, failed):
            facts = CAUSE
        elif failed.startswith(TRACE):
            facts = RAW
        else:
            facts = NAMED if is_named(text, failed) else BARE
        return facts + MENDS_UNKNOWN * (not self.is_known) + MENDS_UNLIKE * (not self.is_alike) + more

    def wrong(self, text: str, silent: float = SILENT) -> str:
        """The text with a slip; at the rate ``silent`` one that runs all the same."""
        return wrong(text, self.gold.may_misspell, silent, self.draws)

    def sees_the_gap(self) -> bool:
        """Whether a question that no table answers is refused."""
        gap = not self.gold.sql and self.prompt.grounds is not None
        return gap and self.happens("sees the gap", whole=True)

    def end(self, answer: str) -> Message:
        """The final answer, in the voice that is asked for."""
        return self.prompt.end(self.asked.voice.worded(answer, self.draws))
