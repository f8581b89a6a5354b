"""Prompt refinement: failures of training records, a critique, new prompts, kept where a paired test says better.

Source: prompt back-propagation of Zheng et al. 2024 (RadABench), arXiv 2412.09529: three rounds of refinement from a
strong model's feedback and manual edits on 220 question pairs, then frozen. Departures: in the default setting a new
set is kept only where it is better on records of its own, by a paired test; the article has no such gate (preset
``refine_prompts_paper``), and does not print the prompt that asks for feedback.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Interval
from pydantic import StringConstraints

from components.core.errors import ConfigError
from components.core.learning import Made, StageContext
from components.core.traits import PromptSetName, StageTraits
from components.core.types import Sample
from components.files.file_dataset import draw
from components.files.folders import MadeFolder
from components.prompts import PromptSet, own_folder, place_of
from components.stages.prompt_critic import Critic, failure_text
from components.stages.prompt_folder import COMPLETE, WAITING, PromptHome, Rules, Version, diff
from components.stages.prompt_report import comparison_text, figures, page, round_page, scatter
from components.stages.prompt_trials import Gate, Parts, Tried, parts_of, per_record, run_version, with_prompts

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)]
Count = Annotated[int, Ge(1)]


@dataclass(frozen=True)
class RefinePrompts:
    """Writes a prompt set ``name`` with its history (docs/guides/refining.md).

    ``train_records`` and ``validation_records`` are parts of the training split, drawn by whole records. A new set is
    kept when it gains in ``metric`` on the validation records (each question ``trials`` times) with a two-sided paired
    p of at most ``alpha`` over ``rounds``; ``alpha`` None keeps each. Failures are what ``solved_by`` scores below 1
    (None: the score that decides). ``pause``: stop after each round, until begun again. ``compare_records``: so many
    evaluated records are run with the plain and the refined set at the end, ``compare_trials`` times each.
    ``templates``: those that may be rewritten; None: all that can be.
    """

    name: Name = "refined"
    folder: str | None = None
    split: str | None = None
    rounds: Count = 3
    train_records: Count = 11
    validation_records: Annotated[int, Ge(0)] = 11
    trials: Count = 2
    alpha: Annotated[float, Interval(gt=0, le=1)] | None = 0.05
    metric: str = "planning/levenshtein"
    solved_by: str | None = None
    failures_shown: Count = 12
    draws: Count = 3
    templates: Sequence[str] | None = None
    pause: bool = False
    compare_records: Annotated[int, Ge(0)] = 0
    compare_trials: Count = 5
    prompts: PromptSetName = "refine_prompts"
    traits: ClassVar[StageTraits] = StageTraits(unread=("run.memory",))

    def __post_init__(self) -> None:
        self.gate.check(self.validation_records)

    @property
    def gate(self) -> Gate:
        """The test that decides whether a new set is kept."""
        return Gate(self.metric, self.alpha, self.rounds)

    @property
    def place(self) -> Path:
        """Where the set is written: among custom ones, or in ``folder``."""
        return own_folder() / self.name if self.folder is None else Path(self.folder)

    def check(self, context: StageContext) -> None:
        """Whether there are prompts to refine and records to learn from. Raises ConfigError."""
        if not self.rules(context).of:
            raise ConfigError("stage.templates: found [], which leaves nothing to refine")
        if self.folder is None and place_of(self.name) != self.place:
            raise ConfigError(
                f"stage.name={self.name!r} is the name of a shipped set, which agent.prompts={self.name} would choose;"
                " choose another stage.name"
            )
        self.parts(context)
        if self.place.is_dir():
            MadeFolder(self.place).notes(context.begun, "stage.name")

    def parts(self, context: StageContext) -> Parts:
        """The samples of the rounds. Raises ConfigError."""
        return parts_of(context, self.split, self.train_records, self.validation_records, self.compare_records)

    def rules(self, context: StageContext) -> Rules:
        """What may become of the agent's prompt set. Raises ConfigError for an agent without one."""
        with_prompts(context.agent, self.name)
        return Rules(context.agent.prompts, self.templates)  # type: ignore[attr-defined]  # with_prompts has seen to it

    async def make(self, context: StageContext) -> Made:
        """Run the rounds that are left. Raises ConfigError, ModelError, RunLimitReached."""
        home = MadeFolder(self.place)
        with home.held():
            notes = home.notes(context.begun, "stage.name")
            if notes.get("status") != COMPLETE:
                work = _Refining(self, context, self.rules(context), PromptHome(home, notes), self.parts(context))
                notes = await work.resume()
        digest = PromptSet(self.name, self.place).digest  # which an edit after the last round changes
        said = page(notes, self.name if self.folder is None else str(self.place), digest)
        return Made(self.place, said, figures=figures(notes))


@dataclass
class _Refining:
    """The work on one set, from what its manifest says is done."""

    setting: RefinePrompts
    context: StageContext
    rules: Rules
    home: PromptHome
    parts: Parts

    async def resume(self) -> dict[str, Any]:
        """Run the rounds that are left, up to a pause. Returns the manifest."""
        setting, context, parts, notes = self.setting, self.context, self.parts, self.home.notes
        context.study([*parts.train, *parts.validation, *context.evaluated])
        if notes and self.home.settle():
            return notes
        if not notes:
            texts = context.known([*parts.train, *parts.validation])
            about = {"base": self.rules.base, "split": parts.split, "records": parts.records, "texts": texts}
            self.home.begin({**context.facts, "begun": context.begun, **about})
            first = await run_version(context, self.home.save(self.rules.first), parts.train[:1])
            first.check(setting.metric, setting.solved_by)  # before all others are paid for
        version = self.home.version(self.rules) if notes["rounds"] else self.rules.first
        before: Tried | None = None
        for number in range(len(notes["rounds"]) + 1, setting.rounds + 1):
            version, before = await self._round(number, version, before)
            if setting.pause:
                return notes
        if parts.compared:
            metric, trials, sets = setting.metric, setting.compare_trials, (self.rules.first, version)
            plain, refined = [await self._tried("compared", one, parts.compared, trials) for one in sets]
            gain = dict(context.gain(refined.records, plain.records, metric))
            points = per_record(plain, refined, metric)
            notes["compared"] = {"metric": metric, "trials": trials, "gain": gain, "records": points}
            self.home.home.write("history/comparison.svg", scatter(points, metric, gain["better"]))
            self.home.home.write("history/comparison.md", comparison_text(notes["compared"]))
        self.home.write(version, COMPLETE)
        return notes

    async def _round(self, number: int, version: Version, before: Tried | None) -> tuple[Version, Tried | None]:
        """One round. Returns the version that is kept, with what it reached on the validation samples."""
        setting, home = self.setting, self.home
        played = await self._tried("train", version, self.parts.train)
        failed = played.failed(setting.solved_by)
        shown = draw(failed, setting.failures_shown, f"{self.context.seed}/refine_prompts/{number}")
        failures = [failure_text(sample, one) for sample, one in shown]
        notes: dict[str, Any] = {
            "round": number, "begins": home.save(version).name, "played": len(played.records), "failed": len(failed),
            "train": played.mean(setting.metric), "metric": setting.metric, "alpha": setting.alpha, "kept": False,
        }  # fmt: skip
        critique, refused, kept = "", dict[str, str](), version
        if failures:
            critic = Critic(self.context, self.rules, setting.prompts, setting.draws)
            place = f"refine_prompts/round-{number}"
            wanted = await critic.propose(place, version, failures, len(failed), len(played.records))
            home.notes["spent"][place] = wanted.usage
            critique, refused, fresh = wanted.critique, dict(wanted.refused), wanted.version
            if fresh != version:
                before = before or await self._validated(version)
                after = await self._validated(fresh)
                notes |= {"candidate": home.save(fresh).name, **setting.gate.decision(self.context, before, after)}
                kept, before = (fresh, after) if notes["kept"] else (version, before)
                changes = diff(self.rules.texts(version), self.rules.texts(fresh))
                home.home.write(f"history/round-{number}.diff", changes)
        notes.setdefault("why", "no template came out otherwise" if failures else "nothing failed")
        notes |= {"refused": refused, "edited": False}
        home.home.write(f"history/round-{number}.md", round_page(notes, critique, failures))
        home.notes["rounds"].append(notes)
        home.write(kept, WAITING if setting.pause else "begun")
        return kept, before

    async def _validated(self, version: Version) -> Tried | None:
        samples = self.parts.validation
        return await self._tried("validation", version, samples, self.setting.trials) if samples else None

    async def _tried(self, part: str, version: Version, samples: Sequence[Sample], trials: int = 1) -> Tried:
        """The version on samples. What it took is kept under what it was: tried again, it comes from the journal."""
        folder = self.home.save(version)
        played = await run_version(self.context, folder, samples, trials)
        self.home.notes["spent"][f"{part}/{folder.name}"] = played.usage
        return played
