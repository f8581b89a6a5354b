"""New patient records with their eleven question pairs, from anatomy, modality and disease, by any model.

Source: the data of Zheng et al. 2024 (RadABench), arXiv 2412.09529: records and question pairs that a model wrote for
22 pairs of anatomy and modality and 100 diseases each. Departures: the prompts are ours; whatever is written is checked
by the tests that the shipped records pass (``synthesis.checks``), and what is rejected is requested again with the
reasons; the article checked a part by hand.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import orjson
from annotated_types import Ge
from pydantic import StringConstraints

from components.core.concurrency import gather_all
from components.core.errors import ConfigError, ModelError, RunLimitReached
from components.core.learning import Made, StageContext
from components.core.traits import PromptSetName, StageTraits
from components.core.usage import Purposes, sum_usages, usage_lines
from components.files.folders import NEW, MadeFolder
from components.radiology.study import LISTS, parse_records
from components.radiology.synthesis.checks import words
from components.radiology.synthesis.record_author import Author, Cell, Draft, cells_of
from components.radiology.tasks import ANATOMIES, MODALITIES
from components.text.words import meant

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)]
Count = Annotated[int, Ge(1)]
REJECTED = "rejected.jsonl"
LONGEST = 20_000  # letters of a rejected reply that are kept
_SHOWN, _QUOTED = 3, re.compile(r"\[[^]]*\]|'[^']*'|\"[^\"]*\"|\b\d[\d.]*\b")


@dataclass(frozen=True)
class Synthesize:
    """Writes a folder that ``dataset=radabench dataset.path=FOLDER`` reads (docs/guides/synthesis.md).

    ``anatomies``, ``modalities`` None: all. ``diseases``: a custom CSV file with the columns anatomy, modality and
    disease; None: the project's list. Of each pair ``per_pair`` diseases are sampled (None: all), and of each disease
    ``per_disease`` records are written. A record that is rejected is requested up to ``attempts`` times in all;
    ``budget.sample`` limits each draft.
    """

    name: Name = "synthetic"
    folder: str | None = None
    anatomies: Sequence[str] | None = None
    modalities: Sequence[str] | None = None
    diseases: str | None = None
    per_pair: Count | None = 1
    per_disease: Count = 1
    attempts: Count = 3
    split: Name = "test"
    prompts: PromptSetName = "synthesize"
    traits: ClassVar[StageTraits] = StageTraits(
        unread=("agent", "verifier", "toolset", "condition", "scorer", "memory", "run.memory", "budget.sample.steps")
    )

    def __post_init__(self) -> None:
        for key, known in (("anatomies", ANATOMIES), ("modalities", MODALITIES)):
            if unknown := [one for one in getattr(self, key) or () if one not in known]:
                have = f"{meant(unknown[0], known)}known are {', '.join(known)}"
                raise ConfigError(f"{key}: there is no {unknown[0]!r}; {have}")

    @property
    def place(self) -> Path:
        """The folder of the records."""
        return Path("outputs/synthetic") / self.name if self.folder is None else Path(self.folder)

    def check(self, context: StageContext) -> None:
        """Raises ConfigError where there is nothing to write."""
        self._cells(context)
        if self.place.is_dir():
            MadeFolder(self.place).notes(context.begun, "stage.name")

    async def make(self, context: StageContext) -> Made:
        """Write the records; earlier replies come from the journal. Raises ModelError, RunLimitReached."""
        home, cells = MadeFolder(self.place), self._cells(context)
        with home.held():
            notes = home.notes(context.begun, "stage.name")
            written = "counts" in notes and (self.place / f"{self.split}.json").is_file()
            if notes.get("status") != "complete" or not written:  # lost files come from the journal again
                if not notes:
                    home.note({"begun": context.begun, "status": NEW})  # the folder is ours from here on
                work = _Writing(self, context, home, cells)
                try:
                    await work.write()
                except (ModelError, RunLimitReached):
                    work.keep("begun")
                    raise
                notes = work.keep("complete")
        counts, kind = notes["counts"], " (simulated model)" if notes["model_kind"] == "simulated" else ""
        lines = [
            f"records:    {counts['accepted']} of {counts['planned']} accepted{kind}, with 11 questions each;"
            f" {counts['rejected']} drafts rejected, see {self.place / REJECTED}",
            *(f"            {n} x {reason}" for reason, n in notes["reasons"].items()),
            *usage_lines(notes["usage"]),
            f"run them:   dataset=radabench dataset.path={self.place}"
            if counts["accepted"]
            else "no record was accepted: there is nothing to run; ask another model, or choose other diseases",
        ]
        figures = {f"records/{name}": [(0, float(n))] for name, n in counts.items()}
        return Made(self.place, lines, not counts["accepted"], figures)

    def _cells(self, context: StageContext) -> list[Cell]:
        return cells_of(
            self.prompts, self.diseases, self.anatomies, self.modalities, self.per_pair, self.per_disease, context.seed
        )


@dataclass
class _Writing:
    """The records that are accepted and rejected so far."""

    setting: Synthesize
    context: StageContext
    home: MadeFolder
    cells: Sequence[Cell]
    accepted: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    rejected: list[Mapping[str, Any]] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    usage: Purposes = field(default_factory=dict)

    async def write(self) -> None:
        """Request all missing records, attempt by attempt; an attempt's are accepted in the order of the plan."""
        for sample in self.context.samples:
            self.taken |= {*_texts(sample.metadata.get("record"), {}), " ".join(words(sample.problem.question))}
        author, missing = Author(self.context, self.setting.prompts), [*self.cells]
        why: dict[str, Draft] = {}
        for attempt in range(1, self.setting.attempts + 1):
            drafts = await gather_all(author.draft(cell, attempt, why.get(cell.id)) for cell in missing)
            self.usage = sum_usages([self.usage, *(draft.usage for draft in drafts)])
            for cell, draft in zip(missing, drafts, strict=True):
                record = {} if draft.flaws else _texts(draft.record, {})
                asked = {} if draft.flaws else _texts(None, draft.questions)
                repeated = [text for alike, text in (record | asked).items() if alike in self.taken]
                if not draft.flaws and not repeated:
                    self.taken |= {*record, *asked}
                    self.accepted[cell.id] = {"case": draft.record, "QA": draft.questions}
                    continue
                if not draft.flaws:
                    flaws = [f"stands in another record already: {one[:300]!r}" for one in repeated]
                    draft = replace(draft, flaws=flaws, sound=self.taken.isdisjoint(record))
                why[cell.id], replies = draft, [reply[:LONGEST] for reply in draft.replies]
                self.rejected.append({"id": cell.id, "attempt": attempt, "reasons": draft.flaws, "replies": replies})
            missing = [cell for cell in missing if cell.id not in self.accepted]

    def keep(self, status: str) -> dict[str, Any]:
        """Write the accepted records in the order of the plan, the rejected ones, and the manifest last."""
        cases = {cell.id: self.accepted[cell.id] for cell in self.cells if cell.id in self.accepted}
        if cases:
            text = orjson.dumps(cases, option=orjson.OPT_INDENT_2)
            parse_records(text, str(self.home.path), {name: () for name in LISTS})  # as the dataset will
            self.home.write(f"{self.setting.split}.json", text.decode() + "\n")
        self.home.write(REJECTED, "".join(json.dumps(one) + "\n" for one in self.rejected))
        counts = {"planned": len(self.cells), "accepted": len(cases), "rejected": len(self.rejected)}
        reasons = ({_QUOTED.sub("...", reason) for reason in one["reasons"]} for one in self.rejected)
        frequent = Counter(reason for found in reasons for reason in sorted(found)).most_common(_SHOWN)
        notes = {
            **self.context.facts,
            "begun": self.context.begun,
            "status": status if cases else NEW,  # where nothing was accepted other settings may try
            "split": self.setting.split,
            "counts": counts,
            "usage": self.usage,
            "reasons": dict(frequent),
            "missing": [cell.id for cell in self.cells if cell.id not in cases],
        }
        self.home.note(notes)
        return notes


def _texts(record: Mapping[str, Any] | None, questions: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The texts that no two records may share, patients included: their words -> the text."""
    texts = [pair["Q"] for pair in questions.values()]
    if record is not None:
        texts = [*record["Report"].values(), record["Treatment"], ", ".join(record["Information"].values()), *texts]
    return {" ".join(words(text)): text for text in texts}
