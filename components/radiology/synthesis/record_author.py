"""Which records are to be written, and their author: asks for a record and for its questions, and checks both."""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from components.core.errors import ConfigError
from components.core.learning import StageContext
from components.core.protocols import Episode
from components.core.types import Answer
from components.core.usage import Purposes, usage_of
from components.files.file_dataset import draw
from components.prompts import load
from components.radiology.synthesis.checks import nouns_of, record_flaws
from components.radiology.synthesis.question_checks import needed_in_answer, question_flaws
from components.radiology.tasks import PAIRS, RECORD_KEYS, TASKS
from components.text.structured import object_in

_COLUMNS = ("anatomy", "modality", "disease")
ROLE = "author"
_LONGEST = 300  # letters of a reason


class Cell(NamedTuple):
    """A record that is to be written."""

    id: str
    anatomy: str
    modality: str
    disease: str


def cells_of(
    prompts: str, path: str | None, anatomies: Sequence[str] | None, modalities: Sequence[str] | None,
    per_pair: int | None, per_disease: int, seed: int,
) -> list[Cell]:  # fmt: skip
    """The records in the order of the pairs. ``path``: a custom table, None: that of the prompt set. Raises ConfigError
    when nothing is left, or the table is not as it should be."""
    table = load(prompts).data("diseases") if path is None else _table(Path(path).expanduser())
    cells: list[Cell] = []
    for anatomy, modality in PAIRS:
        if any(some is not None and one not in some for one, some in ((anatomy, anatomies), (modality, modalities))):
            continue
        diseases = table.get(anatomy, {}).get(modality, [])
        for disease in draw(diseases, per_pair, f"{seed}/synthesize/{anatomy}/{modality}"):
            words = "-".join(re.findall(r"[a-z0-9]+", f"{anatomy} {modality} {disease}".lower()))
            cells += [Cell(f"{words}-{n}", anatomy, modality, disease) for n in range(1, per_disease + 1)]
    if not cells:
        raise ConfigError("no disease is left to write about; see stage.anatomies, stage.modalities, stage.diseases")
    most, n = Counter(one.id for one in cells).most_common(1)[0]
    if n > 1:
        raise ConfigError(f"stage.diseases: {most!r} would be written twice; name each disease of a pair once")
    return cells


def _table(path: Path) -> dict[str, dict[str, list[str]]]:
    """The diseases of a table in CSV, by anatomy and modality. Raises ConfigError."""
    found: dict[str, dict[str, list[str]]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if missing := [name for name in _COLUMNS if name not in (rows.fieldnames or ())]:
                wanted = ", ".join(_COLUMNS)
                raise ConfigError(f"stage.diseases: {path} has no column {missing[0]!r}; expected are {wanted}")
            for row in rows:
                anatomy, modality, disease = (str(row[name] or "").strip() for name in _COLUMNS)
                is_pair = (anatomy, modality) in PAIRS
                if not is_pair or not disease:
                    why = "the disease is missing" if is_pair else f"no pair {anatomy!r}, {modality!r}"
                    raise ConfigError(f"stage.diseases: {path}, line {rows.line_num}: {why}")
                found.setdefault(anatomy, {}).setdefault(modality, []).append(disease)
    except (csv.Error, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"stage.diseases: {path} cannot be read: {error}") from None
    return found


@dataclass(frozen=True)
class Draft:
    """The text of an author: ``flaws`` are the reasons why it is rejected, ``sound``: those are of its questions only.
    ``usage``: tokens and time of the calls."""

    record: Mapping[str, Any] | None = None
    questions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    flaws: Sequence[str] = ()
    replies: Sequence[str] = ()
    sound: bool = False
    usage: Purposes = field(default_factory=dict)


@dataclass(frozen=True)
class Author:
    """Asks the role ``author``, which is the model itself where the config names no other."""

    context: StageContext
    prompts: str

    async def draft(self, cell: Cell, attempt: int, last: Draft | None) -> Draft:
        """One attempt; a record that was sound is kept, and only its questions are requested again."""
        found: list[Draft] = []
        kept = last.record if last is not None and last.sound else None

        async def write(episode: Episode) -> Answer:
            found.append(await self._write(episode, cell, kept, last.flaws if last is not None else ()))
            return Answer("")

        ended = await self.context.talk(f"synthesize/{cell.id}/{attempt}", write)
        draft = found[0] if found else Draft(flaws=[f"it broke off: {ended.error or ended.stop}"])
        return replace(draft, usage=usage_of(ended)["purposes"])

    async def _write(self, episode: Episode, cell: Cell, kept: Mapping[str, Any] | None, flaws: Sequence[str]) -> Draft:
        prompts, record, replies = load(self.prompts), kept, list[str]()
        if record is None:
            values = {"anatomy": cell.anatomy, "modality": cell.modality, "disease": cell.disease}
            data = prompts.data("lists")
            lists = {**data["regions"][cell.anatomy], "findings": data["techniques"][cell.modality]}
            lists |= {name: data[name] for name in ("measures", "histories", "steps")}
            patient = data["patients"].get(cell.anatomy, data["patients"]["other"])
            shown = prompts.user("record", (), **values, lists=lists, patient=patient, rejected=list(flaws))
            replies.append((await episode.ask([shown], "build", role=ROLE)).text)
            if (written := object_in(replies[0])) is None:
                return Draft(None, {}, ["no JSON object can be read"], replies)
            record = arranged(written)
            wrong = record_flaws(record) or [
                f"{key} is {record[key]!r}; {value!r} was asked for"
                for key, value in zip(("Anatomy", "Modality", "Disease"), values.values(), strict=True)
                if record[key].casefold() != value.casefold()
            ]
            if wrong:
                return Draft(record, {}, _short(wrong), replies)
        phrases, holds, info = prompts.data("phrases"), needed_in_answer(record), record["Information"]
        shown = prompts.user(
            "questions",
            (),
            record=orjson.dumps(record).decode(),
            person=f"{nouns_of(info['Sex'], int(info['Age']))} aged {info['Age']}",
            openers=[one.replace("{person}", "PERSON") for one in phrases["openers"]],
            tasks=[
                {"id": chain, "name": task.name, "asks": phrases["asks"][chain], "holds": holds[chain]}
                for chain, task in TASKS.items()
            ],
            rejected=list(flaws) if kept else [],
        )
        replies.append((await episode.ask([shown], "build", role=ROLE)).text)
        if (read := object_in(replies[-1])) is None:
            return Draft(record, {}, ["no JSON object can be read"], replies, sound=True)
        questions = {}
        for chain in dict.fromkeys((*TASKS, *read)):
            if chain in read:  # a question before its answer
                pair = read[chain]
                whole = isinstance(pair, Mapping) and set(pair) == {"Q", "A"}
                questions[chain] = {key: pair[key] for key in ("Q", "A")} if whole else pair
        return Draft(record, questions, _short(question_flaws(record, questions)), replies, sound=True)


def arranged(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with its keys in the order of the layout, and numbers as texts; further keys stay at the end."""
    found = {key: record[key] for key in RECORD_KEYS if key in record} | dict(record)
    for key, inner in RECORD_KEYS.items():
        value = found.get(key)
        if inner is not None and isinstance(value, Mapping):
            ordered = {name: value[name] for name in inner if name in value} | dict(value)
            found[key] = {name: _text(one) for name, one in ordered.items()}
        elif key in found:
            found[key] = _text(value)
    return found


def _text(value: Any) -> Any:
    """A number as text; NaN and infinities are none."""
    number = isfinite(value) if isinstance(value, float) else isinstance(value, int) and not isinstance(value, bool)
    return str(value) if number else value


def _short(flaws: Sequence[str]) -> list[str]:
    return [flaw if len(flaw) <= _LONGEST else f"{flaw[:_LONGEST]}..." for flaw in flaws]
