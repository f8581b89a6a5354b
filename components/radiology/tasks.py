"""RadABench's categories, pairs, variables and the eleven tasks with their ground-truth chains.

Source: Zheng et al. 2024, arXiv 2412.09529; chains as in the reference implementation
(MAGIC-AI4Med/RadABench, January 2025), which agree with the article's question-generation list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

AC, MC, OS, AD, DD, DI, BQ, IE, RG, TR = CATEGORIES = (
    "Anatomy Classifier",
    "Modality Classifier",
    "Organ Segmentor",
    "Anomaly Detector",
    "Disease Diagnoser",
    "Disease Inferencer",
    "Biomarker Quantifier",
    "Indicator Evaluator",
    "Report Generator",
    "Treatment Recommender",
)

# Names an agent uses in its plan, in canonical order, with the category and type they stand for.
PLANNING_NAMES: Mapping[str, tuple[str, str | None]] = {
    "Anatomy Classification Tool": (AC, None),
    "Modality Classification Tool": (MC, None),
    "Organ Segmentation Tool": (OS, None),
    "Anomaly Detection Tool": (AD, None),
    "Disease Diagnosis Tool": (DD, None),
    "Disease Inference Tool": (DI, None),
    "Organ Biomarker Quantification Tool": (BQ, "Organ"),
    "Anomaly Biomarker Quantification Tool": (BQ, "Anomaly"),
    "Indicator Evaluation Tool": (IE, None),
    "Report Generation Tool": (RG, None),
    "Treatment Recommendation Tool": (TR, None),
}

# The memory variables in canonical order, as written between dollar signs.
VARIABLES = (
    "Image", "Information", "Anatomy", "Modality", "OrganMask", "AnomalyMask", "Disease", "OrganObject", "OrganDim",
    "OrganQuant", "AnomalyObject", "AnomalyDim", "AnomalyQuant", "IndicatorName", "IndicatorValue", "Report",
    "Treatment",
)  # fmt: skip

_FOUR = ("X-ray", "CT", "MRI", "Ultrasound")
_MODALITIES = {
    "Head and Neck": _FOUR,
    "Chest": _FOUR,
    "Breast": ("Mammography", "MRI", "Ultrasound"),
    "Abdomen and Pelvis": _FOUR,
    "Limb": _FOUR,
    "Spine": ("X-ray", "CT", "MRI"),
}
ANATOMIES = tuple(_MODALITIES)
MODALITIES = ("X-ray", "CT", "MRI", "Ultrasound", "Mammography")
PAIRS = tuple((anatomy, modality) for anatomy, modalities in _MODALITIES.items() for modality in modalities)

# Refusal: the five fields and their allowed values (empty = free text).
ABILITIES = ("CategoryMissing", "SpecificToolMissing", "InsufficientCapability")
REFUSAL_FIELDS: Mapping[str, Sequence[str]] = {
    "purpose": (),
    "category": CATEGORIES,
    "anatomy": ("Universal", *ANATOMIES),
    "modality": ("Universal", *MODALITIES),
    "ability": ABILITIES,
}


def var(name: str) -> str:
    """The variable as written in memory and in cards."""
    return f"${name}$"


@dataclass(frozen=True)
class Task:
    """One of the eleven tasks. ``chain``: (category, type) per step, type ``Organ``/``Anomaly`` for
    quantifiers where it is fixed, else None; ``complexity``: simple, moderate or complex."""

    id: str
    letter: str
    name: str
    chain: tuple[tuple[str, str | None], ...]
    complexity: str
    milestone: str
    milestone_code: str

    @property
    def categories(self) -> tuple[str, ...]:
        """The chain without types."""
        return tuple(category for category, _ in self.chain)

    @property
    def steps(self) -> str:
        """The chain with types, in words."""
        return " -> ".join(f"{kind or ''} {category}".strip() for category, kind in self.chain)

    @property
    def target(self) -> str:
        """The last category of the chain."""
        return self.chain[-1][0]


def _chain(digits: str) -> tuple[tuple[str, str | None], ...]:
    """Expand a chain id; quantification is one step per type unless the chain has only one of them."""
    types: Sequence[str] = {"0126": ("Organ",), "0136": ("Anomaly",)}.get(digits, ("Organ", "Anomaly"))
    steps: list[tuple[str, str | None]] = []
    for digit in digits:
        category = CATEGORIES[int(digit)]
        steps += [(category, kind) for kind in types] if category == BQ else [(category, None)]
    return tuple(steps)


def _complexity(digits: str) -> str:
    """Simple below 4 steps, moderate 4 or 5, complex from 6, counted by chain id."""
    return "simple" if len(digits) < 4 else "moderate" if len(digits) < 6 else "complex"


_ROWS = (
    ("012", "a", "organ segmentation", OS, OS),
    ("013", "b", "anomaly detection", AD, AD),
    ("014", "c", "end-to-end diagnosis", DD, DD),
    ("0123", "d", "joint organ and anomaly grounding", OS, OS),
    ("01235", "e", "diagnosis with grounding clues", DI, DI),
    ("0126", "f", "organ biomarker", BQ, BQ),
    ("0136", "g", "anomaly biomarker", BQ, BQ),
    ("01348", "h", "standard report", AD, AD),
    ("0123568", "i", "report with biomarkers", DI, DD),
    ("01235678", "j", "report with biomarkers and indicators", IE, IE),
    ("012356789", "k", "treatment plan", IE, IE),
)
TASKS: Mapping[str, Task] = {
    digits: Task(digits, letter, name, _chain(digits), _complexity(digits), milestone, code)
    for digits, letter, name, milestone, code in _ROWS
}


def lookup(record: Mapping[str, Any], variable: str) -> Any:
    """Find a variable (without dollar signs) in a record, depth first from the top; None when absent."""
    key = {"IndicatorName": "Name", "IndicatorValue": "Value"}.get(variable, variable)
    if key in record:
        return record[key]
    for value in record.values():
        if isinstance(value, Mapping) and (found := lookup(value, variable)) is not None:
            return found
    return None
