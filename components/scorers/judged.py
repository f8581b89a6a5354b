"""A model grades free text by a rubric that people can be given too.

Its question is asked when the episode is over and is in the record as a step of purpose ``judge``; what it says
is read from there, so that records are scored again without asking. How far it agrees with people is measured by
``python -m runner.report ratings``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from components.core.protocols import Episode
from components.core.score_names import JUDGED
from components.core.traits import PromptSetName, ScorerTraits
from components.core.types import Sample, Score, Trajectory
from components.prompts import load
from components.rubrics.rubric import Rubric, texts_of

_SHOWN = 600  # characters of the judge's reasons that an explanation keeps
JUDGE = "judge"  # the role of the model that grades


@dataclass(frozen=True)
class Judged:
    """``judged/RUBRIC/FIELD/CATEGORY`` for everything that can be picked: 1 where the judge picks it, else 0.

    A field that cannot be read in its reply is unscored, and so is an episode that the rubric does not draw (all
    but failures, say) or that errored. The judge is the model of the role ``judge``; the model under test is refused
    unless ``allow_self``.
    """

    rubric: Rubric
    prompts: PromptSetName = "judged"
    allow_self: bool = False

    @property
    def version(self) -> str:
        """Changes when a score can; the prompt's own digest is in the manifest."""
        return f"2 {self.rubric.digest}"

    @property
    def traits(self) -> ScorerTraits:
        """A category is picked or not: the worst of an ordered field is better low; better neither way are those that
        are not ordered, or neither the best nor the worst."""
        ends: dict[tuple[str, str], int] = {}  # 0 for the best category of an ordered field, -1 for the worst
        for name, field in self.rubric.fields.items():
            if field.ordered:
                ends |= {(name, list(field.categories)[place]): place for place in (0, -1)}
        return ScorerTraits(
            lower=[name for mark, name in self._names.items() if ends.get(mark) == -1],
            neither=[name for mark, name in self._names.items() if mark not in ends],
            kinds=dict.fromkeys(self._names.values(), "proportion"),
            asks=JUDGE,
            allow_self=self.allow_self,
        )

    async def consult(
        self, sample: Sample, trajectory: Trajectory, scores: Mapping[str, float | None], episode: Episode
    ) -> None:
        """Ask the judge about a finished episode, if the rubric draws it. Raises ModelError, ConfigError."""
        if not self.rubric.draw.takes(trajectory.stop, scores):
            return
        judge = episode.branch(self.rubric.name, role=JUDGE)
        texts = texts_of(self.rubric.shows, sample, trajectory)
        images = sample.problem.images if judge.sees_images else ()
        await judge.ask([load(self.prompts).user("grade", images, rubric=self.rubric, texts=texts)], "judge")

    def score(self, sample: Sample, trajectory: Trajectory) -> Sequence[Score]:
        """Read what the judge said of this episode."""
        judged = (s for s in reversed(trajectory.steps) if s.purpose == "judge" and s.branch.startswith("judge/"))
        step = next((one for one in judged if one.branch.rpartition("/")[2] == self.rubric.name), None)
        if step is None or trajectory.stop == "error":
            return [Score(name, None, "the judge was not asked") for name in self._names.values()]
        said, why = self.rubric.said(step.reply.text), step.reply.text.strip()[:_SHOWN]
        found = []
        for (field, category), name in self._names.items():
            picked, first = said[field], category == next(iter(self.rubric.fields[field].categories))
            value = None if picked is None else float(category in picked)
            found.append(Score(name, value, f"{'unreadable: ' if picked is None else ''}{why}" if first else ""))
        return found

    @property
    def _names(self) -> dict[tuple[str, str], str]:
        return {mark: JUDGED.format(self.rubric.name, *mark) for mark in self.rubric.marks()}
