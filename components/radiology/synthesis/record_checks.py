"""Checks of one patient record: its layout, and whether its parts agree. Their tables are in ``checks.yaml``.

Every shipped record passes them, and whatever a model writes has to. Each check yields a line per flaw: the value, and
what would be right.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from components.radiology.study import Record
from components.radiology.tasks import RECORD_KEYS
from components.text.structured import read_yaml

TABLES: Mapping[str, Any] = read_yaml(Path(__file__).with_name("checks.yaml"))
LONGEST = 4_000  # letters of a text
_MARKUP = re.compile(r"[{}]|<[A-Za-z/!?][^<>]{0,40}>?|&#?\w{1,20};")
_ALPHABETS = ("LATIN ", "GREEK ", "MICRO ")
_SMALL_SHARE = 0.12  # of words that are small ones: half of what the shipped record with the fewest has
_UNREVEALING = {*TABLES["ordinary"].split(), *TABLES["score_nouns"].split()}
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
    return next((one for one in letters if not unicodedata.name(one, "").startswith(_ALPHABETS)), None)


def reads_english(text: str) -> bool:
    """Whether as many of the words as in an English text are small ones, such as "the" and "of"."""
    found, small = words(text), TABLES["small"].split()
    return sum(word in small for word in found) >= _SMALL_SHARE * len(found)


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


def name_words(record: Record) -> set[str]:
    """The words of a record's own names, which a question must not say."""
    organ, anomaly = record["OrganBiomarker"]["OrganObject"], record["Anomaly"]
    text = " ".join((organ, anomaly["Part"], anomaly["Symptom"], record["Disease"], record["Indicator"]["Name"]))
    parts = {piece for word in words(text) for piece in (word, *word.split("-"))}
    return {word for word in parts if len(word) >= 4} - _UNREVEALING


def layout(record: Record) -> Iterator[str]:
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


def plain_english(record: Record) -> Iterator[str]:
    """No markup and no other script anywhere; findings and treatment are in English."""
    for key, value in record.items():
        for text in [value] if isinstance(value, str) else value.values():
            if (found := odd_piece(text)) is not None:
                yield f"{key} holds {found!r}; plain English text is expected"
    if not reads_english(f"{record['Report']['Finding']} {record['Treatment']}"):
        yield "Report.Finding and Treatment do not read like English"


def demographics(record: Record) -> Iterator[str]:
    """Age, height and weight are digits of a person there could be."""
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


def same_anomaly(record: Record) -> Iterator[str]:
    """The anomaly is the same in both places."""
    if record["AnomalyBiomarker"]["AnomalyObject"] != record["Anomaly"]["Symptom"]:
        yield "AnomalyBiomarker.AnomalyObject is not what Anomaly.Symptom says"


def finding_is_whole(record: Record) -> Iterator[str]:
    """The findings are 3 to 5 sentences that name organ, anomaly and both quantities."""
    finding = record["Report"]["Finding"]
    if not 3 <= sentences(finding) <= 5:
        yield f"Report.Finding has {sentences(finding)} sentences; 3 to 5 are expected"
    for name in (record["OrganBiomarker"]["OrganObject"], record["Anomaly"]["Symptom"]):
        if name.lower() not in finding.lower():
            yield f"Report.Finding does not name {name!r}"
    for quantity in (record["OrganBiomarker"]["OrganQuant"], record["AnomalyBiomarker"]["AnomalyQuant"]):
        if quantity not in finding:
            yield f"Report.Finding does not state {quantity!r}"


def finding_names_dimensions(record: Record) -> Iterator[str]:
    """The findings say what was measured."""
    stems = {word[:4] for word in plural_aware(record["Report"]["Finding"])}
    for dimension in (record["OrganBiomarker"]["OrganDim"], record["AnomalyBiomarker"]["AnomalyDim"]):
        parts = [word for piece in words(dimension) for word in piece.split("-")]
        if dimension != "number" and not any(word[:4] in stems for word in parts):  # a count stands before its noun
            yield f"Report.Finding does not say that a {dimension} was measured"


def impression(record: Record) -> Iterator[str]:
    """The impression is short, names the disease and has no number of its own."""
    text = record["Report"]["Impression"]
    if not 1 <= sentences(text) <= 2:
        yield f"Report.Impression has {sentences(text)} sentences; 1 or 2 are expected"
    if record["Disease"].lower() not in text.lower():
        yield f"Report.Impression does not name {record['Disease']!r}"
    known = numbers(record["Report"]["Finding"]) | numbers(" ".join(record["Indicator"].values()))
    if strange := numbers(text) - known - numbers(record["Disease"]):
        yield f"Report.Impression has the number {min(strange)}, which the findings and the score do not have"


def quantities(record: Record) -> Iterator[str]:
    """A quantity is a number with a unit that fits what was measured."""
    for kind in ("Organ", "Anomaly"):
        dimension, quantity = (record[f"{kind}Biomarker"][f"{kind}{key}"] for key in ("Dim", "Quant"))
        if not _UNIT.match(quantity):
            yield f"{kind}Quant is {quantity!r}; a number with a unit such as 14 mm is expected"
        for what, how, said in TABLES["units"]:
            if re.search(what, dimension) and not re.search(how, quantity):
                yield f"{kind}Quant is {quantity!r}; a {dimension} is measured in {said}"


def language_of_modality(record: Record) -> Iterator[str]:
    """The findings speak the language of the modality."""
    text = record["Report"]["Finding"] + record["Anomaly"]["Symptom"]
    pattern = TABLES["foreign"].get(record["Modality"])
    if pattern and (found := re.search(pattern, text, re.IGNORECASE)):
        yield f"{found[0]!r} is not said of {record['Modality']}"


def sex(record: Record) -> Iterator[str]:
    """Organs, disease and history fit the patient's sex; breast patients are women, but for gynaecomastia."""
    info = record["Information"]
    other = "Male" if info["Sex"] == "Female" else "Female"
    names = (record["Disease"], record["Anomaly"]["Part"], record["OrganBiomarker"]["OrganObject"])
    if found := re.search(
        TABLES["sex_specific"][other], " ".join((*names, info["History"], info["Complaint"])), re.IGNORECASE
    ):
        yield f"{found[0]!r} does not fit a {info['Sex'].lower()} patient"
    if record["Anatomy"] == "Breast" and info["Sex"] == "Male" and record["Disease"].lower() != "gynaecomastia":
        yield "the patient of a breast record is female, but for gynaecomastia"


def sides(record: Record) -> Iterator[str]:
    """Anomaly and organ are on the same side."""
    anomaly = {"left", "right"} & set(words(record["Anomaly"]["Part"] + " " + record["Anomaly"]["Symptom"]))
    organ = {"left", "right"} & set(words(record["OrganBiomarker"]["OrganObject"]))
    if len(anomaly) == 1 and organ and anomaly != organ:
        yield f"the anomaly is on the {min(anomaly)}, the organ on the {min(organ)}"


def treatment(record: Record) -> Iterator[str]:
    """The treatment is a paragraph of 2 to 5 sentences and 30 to 90 words."""
    n, length = sentences(record["Treatment"]), len(words(record["Treatment"]))
    if not (2 <= n <= 5 and 30 <= length <= 90):
        yield f"Treatment has {n} sentences and {length} words; 2 to 5 and 30 to 90 are expected"


def place_of_score(record: Record) -> Iterator[str]:
    """A score belongs to the anatomy and modality."""
    name, pair = record["Indicator"]["Name"], (record["Anatomy"], record["Modality"])
    for word, (anatomy, modalities) in TABLES["score_places"].items():
        if word.lower() in name.lower() and (pair[0] != anatomy or pair[1] not in modalities.split()):
            yield f"Indicator.Name is {name!r}, which is used for {anatomy}, {modalities}; this is {', '.join(pair)}"


def usual_score(record: Record) -> Iterator[str]:
    """A disease carries its usual score."""
    for disease, word in TABLES["usual_scores"].items():
        if re.search(disease, record["Disease"], re.IGNORECASE) and word not in record["Indicator"]["Name"]:
            yield f"Indicator.Name is {record['Indicator']['Name']!r}; for {record['Disease']!r} it holds {word!r}"


def level_of_score(record: Record) -> Iterator[str]:
    """The value of a score is one of its levels."""
    value = record["Indicator"]["Value"]
    if len(value) > 60 or not _LEVEL.search(value):
        yield f"Indicator.Value is {value!r}; a level of the score in at most 60 characters is expected"


CHECKS: Sequence[Callable[[Record], Iterator[str]]] = (
    plain_english, demographics, same_anomaly, finding_is_whole, finding_names_dimensions, impression, quantities,
    language_of_modality, sex, level_of_score, place_of_score, usual_score, sides, treatment,
)  # fmt: skip


def record_flaws(record: Record) -> list[str]:
    """All that is wrong with a record; only its layout where that is wrong."""
    wrong = list(layout(record))
    return wrong or [flaw for check in CHECKS for flaw in check(record)]
