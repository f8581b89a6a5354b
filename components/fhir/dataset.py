"""MedAgentBench: clinical tasks for an agent that works on a FHIR server; and tasks of other files in this layout.

Source: Jiang et al. 2025, NEJM AI, arXiv 2501.14654 (MIT licence; ``stanfordmlgroup/MedAgentBench``,
``data/medagentbench/test_data_v2.json``): 300 tasks in 10 categories. The server's 100 patients are in a container
image; ``python -m components.fhir.export URL FOLDER`` writes its resources to a folder for ``world``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from components.core.errors import ConfigError
from components.core.types import Problem, Sample
from components.fhir.gold import NUMBERED, QUERIES, Gold, Task, gold_of
from components.fhir.world import open_world, resource_files
from components.files.file_dataset import HOW, FolderDataset, Part, add_request
from components.files.rows import Row, json_records

_MOST_REQUESTS = 5  # of a task: a grader tries them in every order
_REQUEST = (
    'Write the answer as a JSON list in the last line, such as ["S1234567"] or [4.2]; [] where no answer is asked for.'
)


@dataclass(frozen=True)
class MedAgentBench(FolderDataset[Row]):
    """One split, in the file ``tasks``. ``world``: the server's resources (NDJSON or Bundles), from which the right
    answers come; without them tasks that need them are unscored. A row with ``gold`` states what is right itself."""

    tasks: str = "test_data_v2.json"
    world: str | None = None
    title = "MedAgentBench"
    split_names = ("test",)
    how = HOW.format("medagentbench", "take data/medagentbench/ from github.com/stanfordmlgroup/MedAgentBench", "...")

    @cached_property
    def _place(self) -> Path | None:
        base = self.root if self.path is None else Path()
        return None if self.world is None else base / Path(self.world).expanduser()

    def paths(self, split: str) -> Mapping[str, Path]:
        """The tasks."""
        return {"tasks": self.root / self.tasks}

    def contents(self, split: str) -> Sequence[Path]:
        """The tasks and the resources. Raises ConfigError."""
        return [*super().contents(split), *(resource_files(self._place) if self._place else ())]

    def load(self, split: str) -> Iterator[Sample]:
        """Make the tasks. Raises ConfigError, also for resources of other patients than theirs."""
        samples = list(super().load(split))
        named = [one for one in samples if one.metadata["mrn"]]
        if self.world and named and all("unscored" in one.target for one in named):
            lacks = f"holds none of the tasks' patients, such as {named[0].metadata['mrn']!r:.60}"
            raise ConfigError(f"world: {self._place} {lacks}; give the resources of the tasks' server")
        return iter(samples)

    def read(self, part: Part) -> Iterable[Row]:
        """Read JSON."""
        return json_records(part.file)

    def sample(self, item: Row, part: Part) -> Sample:
        """Make a task with its right answer and requests. Raises ConfigError."""
        name, category = item.text("id"), _category(item)
        world = None if self._place is None else open_world(self._place)
        number = item.optional_text("eval_MRN")
        found = (world.patient(number) if world and number else None) or {}
        patient = str(found.get("id", number))
        known = world if found else None
        task = Task(item.text("instruction").strip(), item.optional_text("context"), patient, known, item.place)
        gold = None if world and number and not found else _stated(item, category) or gold_of(category, task)
        needs = "the right answer comes from the FHIR server; give dataset.world (docs/papers/medagentbench.md)"
        if world:
            needs = f"the resources hold no patient {number!r:.60}"
        target = {"unscored": needs} if gold is None else {**gold._asdict(), "category": category, "patient": patient}
        return Sample(
            Problem(name, add_request(task.instruction, _REQUEST), context=task.context),
            target=target,
            metadata={"fhir_category": category, "patient": patient, "mrn": number},
            cluster=number or name,
            strata={"category": category, "kind": "query" if category in QUERIES else "action"},
            files={} if self._place is None else {"world": str(self._place)},
            card={"sex": str(found["gender"])} if "gender" in found else {},
        )


def _category(row: Row) -> str:
    """What a row states, else that of an id like ``task3_12``. Raises ConfigError."""
    if "category" in row.values:
        return row.one_of("category", NUMBERED)
    number = (name := row.text("id")).removeprefix("task").partition("_")[0]
    if not number.isdecimal() or not 1 <= int(number) <= len(NUMBERED):
        raise row.error("id", f"must be task1_... to task{len(NUMBERED)}_..., found {name!r}")
    return NUMBERED[int(number) - 1]


def _stated(row: Row, category: str) -> Gold | None:
    """What a row says is right: in ``gold``, or in ``sol`` of the benchmark's first category. Raises ConfigError."""
    if category == "find_patient" and "gold" not in row.values:
        return Gold(row.texts("sol"))
    gold: Any = row.values.get("gold")
    if gold is None:
        return None
    if not isinstance(gold, Mapping) or not gold.keys() <= {*Gold._fields} or "answer" not in gold:
        raise row.error("gold", f"must have answer and may have requests, found {gold!r:.80}")
    stated = Gold(**gold)
    if not isinstance(stated.answer, list | None):
        raise row.error("gold", f"answer must be a list or null, found {stated.answer!r:.80}")
    is_list = isinstance(stated.requests, list | tuple) and len(stated.requests) <= _MOST_REQUESTS
    if not is_list or not all(isinstance(one, Mapping) for one in stated.requests):
        raise row.error("gold", f"requests must be at most {_MOST_REQUESTS} resources, found {stated.requests!r:.80}")
    return stated
