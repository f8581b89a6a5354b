"""Direct prompting: the problem in, the answer out, one call.

Source: the zero-shot baseline of Tang et al. 2024 (MedAgents), arXiv 2311.10537.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.answers import after_mark
from components.prompts import load
from components.protocols import Episode
from components.types import Answer


@dataclass(frozen=True)
class Direct:
    """Asks once, without tools and without reasoning."""

    prompts: str = "direct"

    async def solve(self, episode: Episode) -> Answer:
        """Ask; of an open answer, only what follows the mark counts."""
        problem = episode.problem
        ask = load(self.prompts).user("problem", problem.images, problem=problem)
        reply = (await episode.ask([ask], "answer")).text
        return Answer(reply if problem.choices else after_mark(reply))
