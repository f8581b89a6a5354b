"""Checks of one patient record and its eleven questions. Their tables are in ``checks.yaml``.

Every shipped record passes them, and whatever a model writes has to. Each check yields a line per flaw: the value, and
what would be right.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from components.radiology.study import Record
from components.radiology.tasks import RECORD_KEYS
from components.text.structured import read_yaml

Questions = Mapping[str, Mapping[str, str]]
TABLES: Mapping[str, Any] = read_yaml(Path(__file__).with_name("checks.yaml"))
LONGEST = 4_000  # letters of a text
ADULT_AGE = 18
_MARKUP = re.compile(r"[{}]|<[A-Za-z/!?][^<>]{0,40}>?|&#?\w{1,20};")
_SMALL_SHARE = 0.12  # of words that are small ones: half of what the shipped record with the fewest has
_UNIT = re.compile(
    r"^\d+(\.\d+)?( (mm2|cm2|mm|cm|mL|HU|ms|cm/s|um2/s|degrees|%|points|lesions|levels|bridges|territories"
    r"|per intercostal space)( of .+)?)?$"
)
_LEVEL = re.compile(
    r"\d|\b(I{1,3}|IV|V|[IVX]+[AB]?)\b|moderate|severe|large|definite|met|negative|response"
    r"|(grade|type|category) [a-d]\b",
    re.IGNORECASE,
)


def words(text: str) -> list[str]:
    """The words of a text in lower case; parts that a hyphen joins are one."""
    return re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", text.lower())


def is_line(text: Any) -> bool:
    """Whether this is a text of one line that can be seen, of at most ``LONGEST`` letters, without spaces around it."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST and text == text.strip() and text.isprintable()


def odd_piece(text: str) -> str | None:
    """What does not belong in plain English: braces, markup, a letter that is neither Latin nor Greek; else None."""
    if found := _MARKUP.search(text):
        return found[0]
    letters = (one for one in text if not one.isascii() and one.isalpha())
    known = ("LATIN ", "GREEK ", "MICRO ")
    return next((one for one in letters if not unicodedata.name(one, "").startswith(known)), None)


def numbers(text: str) -> set[str]:
    """The numbers of a text, as they are written."""
    return set(re.findall(r"\d+(?:\.\d+)?", text))


def sentences(text: str) -> int:
    """How many sentences a text has."""
    return len(re.findall(r"[.!?](?=\s|$)", text))


def plural_aware(text: str) -> set[str]:
    """The words of a text, also their parts and each without its plural's s."""
    found = set(words(text)) | {piece for word in words(text) for piece in word.split("-")}
    return found | {word.rstrip("s") for word in found}


def record_flaws(record: Record) -> list[str]:
    """All that is wrong with a record; only its layout where that is wrong."""
    checks = (_language_and_patient, _report, _measures, _sex_and_score, _sides_and_treatment)
    return [*_layout(record)] or [flaw for check in checks for flaw in check(record)]


def _layout(record: Record) -> Iterator[str]:
    """Exactly the keys of the layout in their order, and texts without spaces around or line breaks in them."""
    if list(record) != list(RECORD_KEYS):
        yield f"the keys are {list(record)}; {list(RECORD_KEYS)} are expected"
        return
    for key, inner in RECORD_KEYS.items():
        value = record[key]
        if inner is not None and not (isinstance(value, Mapping) and tuple(value) == tuple(inner)):
            yield f"{key} is no object with the keys {list(inner)}"
            continue
        for text in [value] if inner is None else value.values():
            if not is_line(text):
                yield f"{key} holds {text!r:.80}; a text of one line is expected, of at most {LONGEST} letters"


def _language_and_patient(record: Record) -> Iterator[str]:
    """Plain English without markup; age, height and weight are digits of a person there could be."""
    for key, value in record.items():
        for text in [value] if isinstance(value, str) else value.values():
            if (found := odd_piece(text)) is not None:
                yield f"{key} holds {found!r}; plain English text is expected"
    written, small = words(f"{record['Report']['Finding']} {record['Treatment']}"), TABLES["small"].split()
    if sum(word in small for word in written) < _SMALL_SHARE * len(written):
        yield "Report.Finding and Treatment do not read like English"
    info = record["Information"]
    if not all(info[key].isascii() and info[key].isdecimal() for key in ("Age", "Height", "Weight")):
        yield "Information: Age, Height and Weight are digits only (years, cm, kg)"
        return
    age, height, weight = (int(info[key]) for key in ("Age", "Height", "Weight"))
    if info["Sex"] not in TABLES["sex_specific"]:
        yield f"Information.Sex is {info['Sex']!r}; Male or Female is expected"
    if not 1 <= age <= 95:
        yield f"Information.Age is {age}; 1 to 95 is expected"
    low, high = (140, 205) if age >= 13 else (75, 160)
    if not low <= height <= high:
        yield f"Information.Height is {height}; at this age {low} to {high} cm is expected"
    elif not 12 <= weight / (height / 100) ** 2 <= 40:
        yield f"Information.Weight is {weight}; it makes no body mass index of 12 to 40"


def _report(record: Record) -> Iterator[str]:
    """The findings name what is seen and measured; the impression is short and names the disease."""
    finding, text = record["Report"]["Finding"], record["Report"]["Impression"]
    organ, anomaly = record["OrganBiomarker"], record["AnomalyBiomarker"]
    if anomaly["AnomalyObject"] != record["Anomaly"]["Symptom"]:
        yield "AnomalyBiomarker.AnomalyObject is not what Anomaly.Symptom says"
    if not 3 <= sentences(finding) <= 5:
        yield f"Report.Finding has {sentences(finding)} sentences; 3 to 5 are expected"
    for name in (organ["OrganObject"], record["Anomaly"]["Symptom"]):
        if name.lower() not in finding.lower():
            yield f"Report.Finding does not name {name!r}"
    for quantity in (organ["OrganQuant"], anomaly["AnomalyQuant"]):
        if quantity not in finding:
            yield f"Report.Finding does not state {quantity!r}"
    stems = {word[:4] for word in plural_aware(finding)}
    for dimension in (organ["OrganDim"], anomaly["AnomalyDim"]):
        parts = [word for piece in words(dimension) for word in piece.split("-")]
        if dimension != "number" and not any(word[:4] in stems for word in parts):  # a count is before its noun
            yield f"Report.Finding does not say that a {dimension} was measured"
    if not 1 <= sentences(text) <= 2:
        yield f"Report.Impression has {sentences(text)} sentences; 1 or 2 are expected"
    if record["Disease"].lower() not in text.lower():
        yield f"Report.Impression does not name {record['Disease']!r}"
    known = numbers(finding) | numbers(" ".join(record["Indicator"].values())) | numbers(record["Disease"])
    if strange := numbers(text) - known:
        yield f"Report.Impression has the number {min(strange)}, which the findings and the score do not have"


def _measures(record: Record) -> Iterator[str]:
    """A quantity has a unit that fits what was measured; the findings speak the language of the modality."""
    for kind in ("Organ", "Anomaly"):
        dimension, quantity = (record[f"{kind}Biomarker"][f"{kind}{key}"] for key in ("Dim", "Quant"))
        if not _UNIT.match(quantity):
            yield f"{kind}Quant is {quantity!r}; a number with a unit such as 14 mm is expected"
        for what, how, unit in TABLES["units"]:
            if re.search(what, dimension) and not re.search(how, quantity):
                yield f"{kind}Quant is {quantity!r}; a {dimension} is measured in {unit}"
    text, pattern = (
        record["Report"]["Finding"] + record["Anomaly"]["Symptom"],
        TABLES["foreign"].get(record["Modality"]),
    )
    if pattern and (found := re.search(pattern, text, re.IGNORECASE)):
        yield f"{found[0]!r} is not said of {record['Modality']}"


def _sex_and_score(record: Record) -> Iterator[str]:
    """Organs, disease and history fit the patient's sex; breast patients are women, but for gynaecomastia. The value of
    a score is one of its levels, the score is one of the place, and the usual one of the disease."""
    info = record["Information"]
    names = (record["Disease"], record["Anomaly"]["Part"], record["OrganBiomarker"]["OrganObject"])
    text = " ".join((*names, info["History"], info["Complaint"]))
    other = TABLES["sex_specific"]["Male" if info["Sex"] == "Female" else "Female"]
    if found := re.search(other, text, re.IGNORECASE):
        yield f"{found[0]!r} does not fit a {info['Sex'].lower()} patient"
    if record["Anatomy"] == "Breast" and info["Sex"] == "Male" and record["Disease"].lower() != "gynaecomastia":
        yield "the patient of a breast record is female, but for gynaecomastia"
    name, value = record["Indicator"]["Name"], record["Indicator"]["Value"]
    if len(value) > 60 or not _LEVEL.search(value):
        yield f"Indicator.Value is {value!r}; a level of the score in at most 60 characters is expected"
    place, image = record["Anatomy"], record["Modality"]
    for word, (anatomy, modalities) in TABLES["score_places"].items():
        if word.lower() in name.lower() and (place != anatomy or image not in modalities.split()):
            yield f"Indicator.Name is {name!r}, which is used for {anatomy}, {modalities}; this is {place}, {image}"
    for disease, word in TABLES["usual_scores"].items():
        if re.search(disease, record["Disease"], re.IGNORECASE) and word not in name:
            yield f"Indicator.Name is {name!r}; for {record['Disease']!r} it holds {word!r}"


def _sides_and_treatment(record: Record) -> Iterator[str]:
    """Anomaly and organ are on one side; the treatment is a paragraph of 2 to 5 sentences and 30 to 90 words."""
    anomaly = {"left", "right"} & set(words(record["Anomaly"]["Part"] + " " + record["Anomaly"]["Symptom"]))
    organ = {"left", "right"} & set(words(record["OrganBiomarker"]["OrganObject"]))
    if len(anomaly) == 1 and organ and anomaly != organ:
        yield f"the anomaly is on the {min(anomaly)}, the organ on the {min(organ)}"
    n, length = sentences(record["Treatment"]), len(words(record["Treatment"]))
    if not (2 <= n <= 5 and 30 <= length <= 90):
        yield f"Treatment has {n} sentences and {length} words; 2 to 5 and 30 to 90 are expected"


def nouns_of(sex: str, age: int) -> str:
    """Boy, girl, man or woman."""
    return {"Male": ("boy", "man"), "Female": ("girl", "woman")}[sex][age >= ADULT_AGE]
