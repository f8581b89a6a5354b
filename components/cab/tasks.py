"""The 18 tasks of ClinicalAgent Bench: their dimensions, sizes and the forms of their answers.

Source: Liao et al. 2024, arXiv 2410.17657; sizes as printed there, MedMentions 879 (the figure's 897 does not add up).
"""

from dataclasses import dataclass
from typing import Literal

Dimension = Literal["knowledge", "multimodal", "numerical", "data", "trust"]
Form = Literal[
    "choice", "tolerant_choice", "contains", "medcalc", "rows", "values", "no_result", "rouge1_recall", "entities"
]  # fmt: skip
DIMENSIONS: tuple[Dimension, ...] = ("knowledge", "multimodal", "numerical", "data", "trust")


@dataclass(frozen=True)
class Task:
    """``form`` of the answer decides how it is scored; ``size`` is the number of test samples."""

    id: str
    dimension: Dimension
    form: Form
    size: int


TASKS = {
    task.id: task
    for task in (
        Task("medqa", "knowledge", "choice", 1273),
        Task("mmlu", "knowledge", "choice", 1089),
        Task("bioasq", "knowledge", "choice", 618),
        Task("pubmedqa", "knowledge", "choice", 500),
        Task("vqarad", "multimodal", "contains", 451),
        Task("slake", "multimodal", "contains", 1061),
        Task("omnimedqa", "multimodal", "choice", 1000),
        Task("medcalc", "numerical", "medcalc", 1047),
        Task("ehrsql", "numerical", "rows", 934),
        Task("mimic_iii", "numerical", "values", 798),
        Task("eicu", "numerical", "values", 797),
        Task("medmentions", "data", "entities", 879),
        Task("emrqa", "data", "rouge1_recall", 1000),
        Task("longhealthqa", "data", "choice", 200),
        Task("medhalt_rht", "trust", "tolerant_choice", 900),
        Task("medvqa_halt", "trust", "choice", 900),
        Task("ehr_halt", "trust", "no_result", 1032),
        Task("longhalt", "trust", "choice", 400),
    )
}
