"""Build the RadABench-mini case files from the hand-written tables in this folder.

Layout of the result: one JSON object per split, case id -> {"case": record, "QA": {chain id: {"Q", "A"}}},
as in RadABench (arXiv 2412.09529). Run ``python -m data_builders.radabench_mini``; with
``--check`` nothing is written and the exit code is 1 when a committed file differs from the tables.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.text.structured import read_yaml
from data_builders.shipped import COMPONENTS, arguments_of, keep

HERE = Path(__file__).parent
SHIPPED = COMPONENTS / "radiology" / "radabench_mini"
ANATOMIES = ("head_and_neck", "chest", "breast", "abdomen_and_pelvis", "limb", "spine")
SPLITS = ("test", "train")
CHAINS = (
    "012", "013", "014", "0123", "01235", "0126", "0136", "01348", "0123568", "01235678", "012356789",
)  # fmt: skip
ADULT_AGE = 18


@dataclass(frozen=True)
class Row:
    """One table entry with its anatomy-modality pair and its number (from 1) within pair and split."""

    split: str
    anatomy: str
    modality: str
    number: int
    fields: Mapping[str, Any]

    @property
    def case_id(self) -> str:
        """Return the case id, for example ``test-head-and-neck-x-ray-1``."""
        return "-".join((self.split, self.anatomy, self.modality, str(self.number))).lower().replace(" ", "-")


@dataclass(frozen=True)
class Phrases:
    """The phrase banks: shared openers, question cores and answer forms by chain id."""

    openers: Sequence[str]
    questions: Mapping[str, Sequence[str]]
    answers: Mapping[str, Sequence[str]]


def capitalise(text: str) -> str:
    """Raise the first letter only; names inside the text and abbreviations such as mJOA stay as they are."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def table_of(name: str) -> Any:
    """One table of this folder."""
    return read_yaml(HERE / name)


def rows() -> list[Row]:
    """Read all tables; test before train, and within a split one record of every pair before the next.

    The order puts all 22 pairs into the first 22 records, so that a short prefix is balanced.
    """
    found = [row for stem in ANATOMIES for row in _rows_of(table_of(f"findings/{stem}.yaml"))]
    return sorted(found, key=lambda row: (SPLITS.index(row.split), row.number))


def _rows_of(table: Mapping[str, Any]) -> Iterator[Row]:
    for modality, entries in table["modalities"].items():
        for split in SPLITS:
            chosen = [entry for entry in entries if entry["split"] == split]
            for number, fields in enumerate(chosen, start=1):
                yield Row(split, table["anatomy"], modality, number, fields)


def record(row: Row) -> dict[str, Any]:
    """Make the patient record with every key of the layout and string leaves only."""
    fields = row.fields
    symptom = capitalise(fields["symptom"])
    information = {key.capitalize(): str(value) for key, value in fields["patient"].items()}
    return {
        "Information": information | {"History": fields["history"], "Complaint": fields["complaint"]},
        "Anatomy": row.anatomy,
        "Modality": row.modality,
        "Anomaly": {"Part": capitalise(fields["part"]), "Symptom": symptom},
        "Disease": capitalise(fields["disease"]),
        "OrganBiomarker": _biomarker("Organ", fields["organ"]),
        "AnomalyBiomarker": _biomarker("Anomaly", [symptom, *fields["anomaly"]]),
        "Indicator": dict(zip(("Name", "Value"), map(capitalise, fields["indicator"]), strict=True)),
        "Report": {"Finding": fields["finding"], "Impression": fields["impression"]},
        "Treatment": fields["treatment"],
    }


def _biomarker(kind: str, values: Sequence[str]) -> dict[str, str]:
    name, dimension, quantity = values
    return {f"{kind}Object": capitalise(name), f"{kind}Dim": dimension, f"{kind}Quant": quantity}


def person(patient: Mapping[str, Any]) -> str:
    """Describe the patient in three words, for example ``woman aged 58``."""
    adult = patient["age"] >= ADULT_AGE
    nouns = {"Male": ("boy", "man"), "Female": ("girl", "woman")}
    return f"{nouns[patient['sex']][adult]} aged {patient['age']}"


def answer_fields(row: Row) -> dict[str, str]:
    """Flatten a row to the names used in the answer forms; ``{Name}`` is the capitalised ``{name}``."""
    fields = row.fields
    flat = {
        "anatomy": row.anatomy,
        "modality": row.modality,
        "anomaly": fields["symptom"],
        **{key: fields[key] for key in ("part", "disease", "finding", "impression", "treatment")},
        **dict(zip(("organ", "organ_dim", "organ_quant"), fields["organ"], strict=True)),
        **dict(zip(("anomaly_dim", "anomaly_quant"), fields["anomaly"], strict=True)),
        **dict(zip(("indicator_name", "indicator_value"), fields["indicator"], strict=True)),
    }
    return flat | {capitalise(key): capitalise(value) for key, value in flat.items()}


def qa(row: Row, position: int, phrases: Phrases) -> dict[str, dict[str, str]]:
    """Compose the 11 question-answer pairs of the record at ``position``.

    Openers and cores are stepped together; as their counts share no divisor, a question text
    returns only after their product, which exceeds the number of records.
    """
    who = person(row.fields["patient"])
    values = answer_fields(row)
    pairs = {}
    for shift, chain in enumerate(CHAINS):
        opener = _pick(phrases.openers, position + 2 * shift).format(person=who)
        core = _pick(phrases.questions[chain], position + 3 * shift)
        form = _pick(phrases.answers[chain], position + shift)
        pairs[chain] = {"Q": f"{opener} {core}".strip(), "A": capitalise(form.format(**values))}
    return pairs


def _pick(bank: Sequence[str], index: int) -> str:
    return bank[index % len(bank)]


def build() -> dict[str, dict[str, Any]]:
    """Return all cases by split and case id."""
    phrases = Phrases(**table_of("phrases.yaml"))
    cases: dict[str, dict[str, Any]] = {split: {} for split in SPLITS}
    for position, row in enumerate(rows()):
        cases[row.split][row.case_id] = {"case": record(row), "QA": qa(row, position, phrases)}
    return cases


def render(cases: Mapping[str, Any]) -> bytes:
    """Give the text of one case file."""
    return (json.dumps(cases, indent=1, ensure_ascii=False) + "\n").encode()


def main(arguments: Sequence[str] | None = None, home: Path = SHIPPED) -> int:
    """Write the files, or compare them with the tables; return the exit code."""
    check = arguments_of("the RadABench-mini case files").parse_args(arguments).check
    return keep(home, {f"{split}.json": render(cases) for split, cases in build().items()}, check)


if __name__ == "__main__":
    sys.exit(main())
