"""What each insufficient condition takes away per task, and the refusal that would be right.

Source: Zheng et al. 2024, arXiv 2412.09529; tables as in the reference implementation
(MAGIC-AI4Med/RadABench, January 2025). Departure: where the reference accepts one diagnosis category
although both are gone or restricted, both are accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.radiology.study import Study
from components.radiology.tasks import AC, AD, BQ, DD, DI, IE, MC, OS, RG, TR

# Task: what config1 removes. Disease takes all three disease tools away, the two biomarkers one type.
CONFIG1: Mapping[str, str] = {
    "012": AC,
    "013": MC,
    "014": "Disease Judge",
    "0123": OS,
    "01235": AD,
    "0126": f"Organ {BQ}",
    "0136": f"Anomaly {BQ}",
    "01348": AD,
    "0123568": "Disease Judge",
    "01235678": RG,
    "012356789": TR,
}
REMOVED: Mapping[str, tuple[tuple[str, ...], str | None]] = {
    "Disease Judge": ((DD, DI), None),
    f"Organ {BQ}": ((BQ,), "Organ"),
    f"Anomaly {BQ}": ((BQ,), "Anomaly"),
    **{category: ((category,), None) for category in (AC, MC, OS, AD, RG, TR)},
}
# Task: whose tools for the record's pair config2 replaces by tools for other pairs.
CONFIG2: Mapping[str, str] = {
    "012": "Organ",
    "013": "Anomaly",
    "014": "Disease",
    "0123": "Organ",
    "01235": "Anomaly",
    "0126": "Organ",
    "0136": "Anomaly",
    "01348": "Anomaly",
    "0123568": "Report",
    "01235678": "Report",
    "012356789": "Report",
}
REPLACED: Mapping[str, str] = {"Organ": OS, "Anomaly": AD, "Disease": DD, "Report": RG}
# Task: which entity config3 restricts away from the record, and differentiated restricts towards it.
CONFIG3: Mapping[str, str] = {
    "012": "Organ",
    "013": "Anomaly",
    "014": "Disease",
    "0123": "Organ",
    "01235": "Disease",
    "0126": "OrganBiomarker",
    "0136": "AnomalyBiomarker",
    "01348": "Anomaly",
    "0123568": "Disease",
    "01235678": "Indicator",
    "012356789": "Indicator",
}
RESTRICTED: Mapping[str, tuple[str, ...]] = {
    "Organ": (OS,),
    "Anomaly": (AD,),
    "Disease": (DD, DI),
    "OrganBiomarker": (BQ,),
    "AnomalyBiomarker": (BQ,),
    "Indicator": (IE,),
}


def _facts(argument: str, accepted: tuple[str, ...], place: tuple[str, str], ability: str) -> dict[str, Any]:
    """The facts of an offer that should be refused."""
    return {
        "argument": argument,
        "accepted": list(accepted),
        "anatomy": place[0],
        "modality": place[1],
        "ability": ability,
        "ground_truth_code": accepted[0],
    }


def config1_facts(study: Study) -> dict[str, Any]:
    """Expected refusal of config1: the removed category, whatever the pair."""
    argument = CONFIG1[study.task.id]
    return _facts(argument, REMOVED[argument][0], ("Universal", "Universal"), "CategoryMissing")


def config2_facts(study: Study) -> dict[str, Any]:
    """Expected refusal of config2: the replaced category for the record's pair."""
    argument = CONFIG2[study.task.id]
    return _facts(argument, (REPLACED[argument],), study.pair, "SpecificToolMissing")


def config3_facts(study: Study) -> dict[str, Any]:
    """Expected refusal of config3: the restricted category; scorers leave the pair free."""
    argument = CONFIG3[study.task.id]
    return _facts(argument, RESTRICTED[argument], study.pair, "InsufficientCapability")
