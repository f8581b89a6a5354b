"""Where clinical scores are used: the pairs that may carry one, and the one that a disease usually carries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from components.radiology.synthesis.soundness.words import Record

# A word of a score's name -> the anatomy and the modalities it belongs to.
PLACES: Mapping[str, tuple[str, str]] = {
    "BI-RADS": ("Breast", "Mammography Ultrasound MRI"),
    "ACR breast": ("Breast", "Mammography"),
    "Kaiser": ("Breast", "MRI"),
    "Tsukuba": ("Breast", "Ultrasound"),
    "Baker": ("Breast", "MRI"),
    "TI-RADS": ("Head and Neck", "Ultrasound"),
    "ASPECTS": ("Head and Neck", "CT"),
    "Fisher": ("Head and Neck", "CT"),
    "Rotterdam": ("Head and Neck", "CT"),
    "Knosp": ("Head and Neck", "MRI"),
    "Koos": ("Head and Neck", "MRI"),
    "Scheltens": ("Head and Neck", "MRI"),
    "CURB-65": ("Chest", "X-ray CT"),
    "Scadding": ("Chest", "X-ray"),
    "Lung-RADS": ("Chest", "CT"),
    "Qanadli": ("Chest", "CT"),
    "Lake Louise": ("Chest", "MRI"),
    "lung ultrasound": ("Chest", "Ultrasound"),
    "CT severity": ("Abdomen and Pelvis", "CT"),
    "RENAL": ("Abdomen and Pelvis", "CT MRI"),
    "LI-RADS": ("Abdomen and Pelvis", "CT MRI"),
    "PI-RADS": ("Abdomen and Pelvis", "MRI"),
    "O-RADS US": ("Abdomen and Pelvis", "Ultrasound"),
    "SFU": ("Abdomen and Pelvis", "Ultrasound"),
    "Kellgren": ("Limb", "X-ray"),
    "Schatzker": ("Limb", "X-ray CT"),
    "Sanders": ("Limb", "CT"),
    "Goutallier": ("Limb", "CT MRI"),
    "Genant": ("Spine", "X-ray"),
    "Meyerding": ("Spine", "X-ray"),
    "Risser": ("Spine", "X-ray"),
    "Pfirrmann": ("Spine", "MRI"),
    "Schizas": ("Spine", "MRI"),
}
# A disease, as a pattern -> a word of the score that it usually carries.
USUAL: Mapping[str, str] = {
    "subarachnoid": "Fisher",
    "middle cerebral": "ASPECTS",
    "Alzheimer": "Scheltens",
    "pneumonia of|lobar pneumonia": "CURB",
    "pulmonary embolism": "Qanadli",
    "sarcoidosis": "Scadding",
    "myocarditis": "Lake Louise",
    "hepatocellular": "LI-RADS",
    "prostate": "PI-RADS",
    "thyroid carcinoma": "TI-RADS",
    "appendicitis": "Alvarado",
    "cholecystitis": "Tokyo",
    "knee osteoarthritis": "Kellgren",
    "tibial plateau": "Schatzker",
    "calcaneal": "Sanders",
    "osteonecrosis": "ARCO",
    "scoliosis": "Risser",
    "spondylolisthesis": "Meyerding",
    "compression fracture": "Genant",
    "odontoid": "Anderson",
    "lumbar disc": "Pfirrmann",
    "spinal stenosis": "Schizas",
    "spinal metastasis": "Instability",
    "deep vein": "Wells",
    "endocarditis": "Duke",
}
_LEVEL = re.compile(
    r"\d|\b(I{1,3}|IV|V|[IVX]+[AB]?)\b|moderate|severe|large|definite|met|negative|response"
    r"|(grade|type|category) [a-d]\b",
    re.IGNORECASE,
)


def place_of_score(record: Record) -> Iterator[str]:
    """A score stands where it is used."""
    name, pair = record["Indicator"]["Name"], (record["Anatomy"], record["Modality"])
    for word, (anatomy, modalities) in PLACES.items():
        if word.lower() in name.lower() and (pair[0] != anatomy or pair[1] not in modalities.split()):
            yield f"Indicator.Name is {name!r}, which is used for {anatomy}, {modalities}; this is {', '.join(pair)}"


def usual_score(record: Record) -> Iterator[str]:
    """A disease carries its usual score."""
    for disease, word in USUAL.items():
        if re.search(disease, record["Disease"], re.IGNORECASE) and word not in record["Indicator"]["Name"]:
            yield f"Indicator.Name is {record['Indicator']['Name']!r}; for {record['Disease']!r} it holds {word!r}"


def level_of_score(record: Record) -> Iterator[str]:
    """The value of a score is one of its levels."""
    value = record["Indicator"]["Value"]
    if len(value) > 60 or not _LEVEL.search(value):
        yield f"Indicator.Value is {value!r}; a level of the score in at most 60 characters is expected"
