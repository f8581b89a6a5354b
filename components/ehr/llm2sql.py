"""LLM2SQL: one call writes one statement, which is run once.

Source: Nan et al. 2023, arXiv 2305.12586 (prompts of schema, demonstrations and question), as a baseline in Shi et al.
2024 (EHRAgent), EMNLP, arXiv 2401.07128; rules of docs/papers/ehragent.md, since the baseline's own code is not
published.
"""

from dataclasses import dataclass

from components.acting.solved import ShowsSolved, seeds_of
from components.core.protocols import Episode
from components.core.traits import PromptSetName
from components.core.types import Answer, Failure, Refusal
from components.ehr.sql_replies import answer_with_rows, database_facts, refused_in, statement_in
from components.prompts import load


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
