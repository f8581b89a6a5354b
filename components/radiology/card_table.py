"""The table of RadABench's tools: inputs, outputs, bounds of every category and variant, and what they do.

Source: Zheng et al. 2024, arXiv 2412.09529; numbers of MAGIC-AI4Med/RadABench, January 2025; own texts.
"""

from __future__ import annotations

from collections.abc import Mapping

from components.radiology.tasks import AC, AD, BQ, DD, DI, IE, MC, OS, RG, TR

_PLACE = "Anatomy Modality"
_TEXT = "Information OrganObject AnomalyObject Disease OrganDim OrganQuant AnomalyDim AnomalyQuant IndicatorName"
_TREAT = "Disease OrganDim OrganQuant AnomalyDim AnomalyQuant IndicatorName"
_MASKS = "OrganMask OrganObject AnomalyMask AnomalyObject"
# (category, variant): compulsory inputs where it is not bound (bound: the image alone), outputs, what it does.
TOOLS: Mapping[tuple[str, str | None], tuple[str, str, str]] = {
    (AC, None): ("Image", "Anatomy", "Names the region of the body that the image shows."),
    (MC, None): ("Image", "Modality", "Names the imaging modality of the image."),
    (OS, None): (f"Image {_PLACE}", "OrganMask OrganObject", "Outlines the organ on the image and names it."),
    (AD, None): (
        f"Image {_PLACE}",
        "AnomalyMask AnomalyObject",
        "Locates the abnormality on the image and says what kind it is.",
    ),
    (DD, None): (f"Image {_PLACE}", "Disease", "Names the disease directly from the image."),
    (DI, None): (
        f"Image Information {_MASKS}",
        "Disease",
        "Infers the disease from the patient's information, the outlined organ and the located abnormality.",
    ),
    (BQ, "Organ"): (
        "Image OrganObject OrganMask",
        "OrganDim OrganQuant",
        "Measures one dimension of the outlined organ.",
    ),
    (BQ, "Anomaly"): (
        "Image AnomalyObject AnomalyMask",
        "AnomalyDim AnomalyQuant",
        "Measures one dimension of the located abnormality.",
    ),
    (IE, "Organ"): (
        "Image Information IndicatorName OrganObject OrganDim OrganQuant",
        "IndicatorValue",
        "Evaluates the named clinical indicator from the patient's information and the organ's measurement.",
    ),
    (IE, "Anomaly"): (
        "Image Information IndicatorName AnomalyObject AnomalyDim AnomalyQuant",
        "IndicatorValue",
        "Evaluates the named clinical indicator from the patient's information and the abnormality's measurement.",
    ),
    (RG, "Basic"): (f"Image {_PLACE}", "Report", "Writes the report of the study from the image alone."),
    (RG, "Text"): (
        f"Image {_PLACE}",
        "Report",
        "Writes the report of the study from the image and any earlier results in words that it is given.",
    ),
    (RG, "Mask"): (
        f"Image {_PLACE}",
        "Report",
        "Writes the report of the study from the image and any masks of organ and abnormality that it is given.",
    ),
    (RG, "Text and Mask"): (
        f"Image {_PLACE}",
        "Report",
        "Writes the report of the study from the image and any earlier results, in words or as masks, it is given.",
    ),
    (TR, None): (
        "Information Report",
        "Treatment",
        "Recommends a treatment from the patient's information and the report; other results help.",
    ),
}
# (category, variant): optional inputs; ValueName stands where the reference meant IndicatorValue.
OPTIONAL: Mapping[tuple[str, str | None], str] = {
    (BQ, "Organ"): "OrganDim",
    (BQ, "Anomaly"): "AnomalyDim",
    (RG, "Text"): f"{_TEXT} ValueName",
    (RG, "Mask"): _MASKS,
    (RG, "Text and Mask"): f"{_TEXT} ValueName OrganMask AnomalyMask",
    (TR, None): f"{_TREAT} ValueName",
}
# (category, variant): lower and upper bound unbound, lower and upper bound bound, step.
BOUNDS: Mapping[tuple[str, str | None], tuple[float, float, float, float, float]] = {
    (AC, None): (0.95, 0.95, 0.95, 0.95, 0.0),
    (MC, None): (0.95, 0.95, 0.95, 0.95, 0.0),
    (OS, None): (0.80, 0.80, 0.85, 0.85, 0.0),
    (AD, None): (0.75, 0.75, 0.80, 0.80, 0.0),
    (DD, None): (0.70, 0.70, 0.75, 0.75, 0.0),
    (DI, None): (0.80, 0.80, 0.80, 0.80, 0.0),
    (BQ, "Organ"): (0.75, 0.80, 0.75, 0.80, 0.05),
    (BQ, "Anomaly"): (0.75, 0.80, 0.75, 0.80, 0.05),
    (IE, "Organ"): (0.80, 0.80, 0.80, 0.80, 0.0),
    (IE, "Anomaly"): (0.80, 0.80, 0.80, 0.80, 0.0),
    (RG, "Basic"): (0.35, 0.35, 0.40, 0.40, 0.0),
    (RG, "Text"): (0.35, 0.65, 0.40, 0.70, 0.03),
    (RG, "Mask"): (0.35, 0.71, 0.40, 0.76, 0.09),
    (RG, "Text and Mask"): (0.35, 0.83, 0.40, 0.88, 0.04),
    (TR, None): (0.80, 0.98, 0.80, 0.98, 0.02),
}
