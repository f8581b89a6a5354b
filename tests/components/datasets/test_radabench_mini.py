"""The synthetic RadABench-mini set: layout, coverage, clinical consistency, and questions that give nothing away."""

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.datasets.radabench_mini import build as builder
from tests.each import each
from tests.slow import slow

FOLDER = Path(builder.__file__).parent
CHAINS = ["012", "013", "014", "0123", "01235", "0126", "0136", "01348", "0123568", "01235678", "012356789"]
PAIRS = {
    "Head and Neck": ["X-ray", "CT", "MRI", "Ultrasound"],
    "Chest": ["X-ray", "CT", "MRI", "Ultrasound"],
    "Breast": ["Mammography", "MRI", "Ultrasound"],
    "Abdomen and Pelvis": ["X-ray", "CT", "MRI", "Ultrasound"],
    "Limb": ["X-ray", "CT", "MRI", "Ultrasound"],
    "Spine": ["X-ray", "CT", "MRI"],
}
PAIR_LIST = [(anatomy, modality) for anatomy, modalities in PAIRS.items() for modality in modalities]
LAYOUT = {
    "Information": ["Age", "Sex", "Height", "Weight", "History", "Complaint"],
    "Anatomy": None,
    "Modality": None,
    "Anomaly": ["Part", "Symptom"],
    "Disease": None,
    "OrganBiomarker": ["OrganObject", "OrganDim", "OrganQuant"],
    "AnomalyBiomarker": ["AnomalyObject", "AnomalyDim", "AnomalyQuant"],
    "Indicator": ["Name", "Value"],
    "Report": ["Finding", "Impression"],
    "Treatment": None,
}

# Words that would tell the anatomy or the modality. Plain "image", "picture", "study", "body part" tell nothing.
GIVEAWAY = [
    "head",
    "neck",
    "brain",
    "skull",
    "face",
    "sinus",
    "throat",
    "thyroid",
    "carotid",
    "chest",
    "thorax",
    "lung",
    "pulmonary",
    "heart",
    "cardiac",
    "breast",
    "mammary",
    "abdomen",
    "abdominal",
    "pelvis",
    "pelvic",
    "belly",
    "liver",
    "kidney",
    "bowel",
    "limb",
    "arm",
    "leg",
    "knee",
    "hip",
    "hand",
    "foot",
    "joint",
    "bone",
    "fracture",
    "spine",
    "spinal",
    "vertebra",
    "vertebral",
    "back",
    "disc",
    "cord",
    "xray",
    "x-ray",
    "x-rays",
    "radiograph",
    "radiography",
    "radiographic",
    "film",
    "plain-film",
    "ct",
    "cat",
    "tomography",
    "tomogram",
    "mr",
    "mri",
    "magnetic",
    "resonance",
    "ultrasound",
    "ultrasonography",
    "sonogram",
    "sonography",
    "doppler",
    "echo",
    "echocardiography",
    "mammogram",
    "mammography",
    "mammographic",
    "scan",
    "scanner",
    "contrast",
    "signal",
    "attenuation",
    "hyperdense",
    "echogenic",
    "tumour",
    "tumor",
    "cancer",
    "nodule",
    "mass",
    "lesion",
    "cyst",
    "haemorrhage",
    "infection",
]
# Ordinary words that occur in a name as well ("first metatarsal", "vertebral body") and tell nothing.
ORDINARY = set(["body", "with", "from", "both", "whole", "disease", "first", "second", "clinical", "response"])
SCORE_NOUNS = set(["score", "grade", "stage", "type", "class", "category", "index", "level", "criteria", "status"])

# Language that belongs to other modalities than the one of the record.
FOREIGN = {
    "X-ray": r"\bHU\b|signal|\bT[12]\b|echogenic|doppler|diffusion|enhanc",
    "CT": r"signal|\bT2\b|echogenic|doppler|diffusion|hypoechoic|acoustic",
    "MRI": r"\bHU\b|echogenic|doppler|hypoechoic|hyperdense|radiopaque",
    "Ultrasound": r"\bHU\b|\bT[12]\b|hyperdense|radiopaque|diffusion|signal intensity",
    "Mammography": r"\bHU\b|\bT2\b|echogenic|doppler|enhanc|diffusion",
}
SEX_SPECIFIC = {
    "Female": r"\b(ovar\w+|uter(us|ine)|endometri\w+|myometri\w+|hysterectomy|menopause|pregnan\w+|breastfeeding)\b",
    "Male": r"\b(prostat\w+|testic\w+|testis|scrot\w+|penile|gynaecomastia|PSA)\b",
}
# Where a score is used: the pairs that may carry it, by a word of its name.
SCORE_PLACE = {
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
DISEASE_SCORE = {
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
UNIT = re.compile(
    r"^\d+(\.\d+)?( (mm2|cm2|mm|cm|mL|HU|ms|cm/s|um2/s|degrees|%|points|lesions|levels|bridges|territories"
    r"|per intercostal space)( of .+)?)?$"
)


def load(split: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{split}.json").read_text(encoding="utf-8"))


TEST, TRAIN = load("test"), load("train")
CASES = TEST | TRAIN
RECORDS = {case_id: entry["case"] for case_id, entry in CASES.items()}
EACH_RECORD, EACH_CASE = each(RECORDS), each(CASES)
EACH_CHAIN = pytest.mark.parametrize("chain", CHAINS)


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", text.lower())


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:\.\d+)?", text))


def sentences(text: str) -> int:
    return len(re.findall(r"[.!?](?=\s|$)", text))


def name_words(record: dict[str, Any]) -> set[str]:
    organ, anomaly = record["OrganBiomarker"]["OrganObject"], record["Anomaly"]
    text = " ".join((organ, anomaly["Part"], anomaly["Symptom"], record["Disease"], record["Indicator"]["Name"]))
    parts = {piece for word in words(text) for piece in (word, *word.split("-"))}
    return {word for word in parts if len(word) >= 4} - ORDINARY - SCORE_NOUNS


def plural_aware(text: str) -> set[str]:
    found = set(words(text)) | {piece for word in words(text) for piece in word.split("-")}
    return found | {word.rstrip("s") for word in found}


def guess_chain(question: str) -> str:
    """Tell the task from the words of a question, as a reader would."""

    def say(pattern: str) -> bool:
        return re.search(pattern, question, re.IGNORECASE) is not None

    score, measure = say(r"\b(scor\w+|grad(e|ing)\b)"), say(r"\b(measur\w+|quanti\w+|biomarkers?)\b")
    organ, abnormal = say(r"\borgan\b"), say(r"\b(abnormal\w*|patholog\w+)\b")
    if say(r"\b(treat\w*|therapy|management)\b"):
        return "012356789"
    if say(r"\breport\b"):
        return "01235678" if score else "0123568" if measure else "01348"
    if say(r"\b(diagnos\w+|disease|condition|illness)\b"):
        return "01235" if organ or abnormal else "014"
    if measure:
        return "0136" if abnormal else "0126"
    return "0123" if organ and abnormal else "013" if abnormal else "012"


# --- layout and coverage ---


@EACH_RECORD
def test_record_has_exactly_the_layout_keys_and_string_leaves(record):
    assert list(record) == list(LAYOUT)
    for key, inner in LAYOUT.items():
        values = [record[key]] if inner is None else list(record[key].values())
        assert inner is None or list(record[key]) == inner
        assert all(isinstance(value, str) and value == value.strip() and value for value in values)
        assert all("\n" not in value for value in values)


@EACH_RECORD
def test_demographics_are_plausible_digits(record):
    info = record["Information"]
    assert all(info[key].isdigit() for key in ("Age", "Height", "Weight"))
    age, height, weight = (int(info[key]) for key in ("Age", "Height", "Weight"))
    assert info["Sex"] in ("Male", "Female")
    assert 1 <= age <= 95
    assert 140 <= height <= 205 if age >= 13 else 75 <= height <= 160
    assert 12 <= weight / (height / 100) ** 2 <= 40


@EACH_CASE
def test_case_has_record_and_eleven_answered_questions_in_order(entry):
    assert list(entry) == ["case", "QA"]
    assert list(entry["QA"]) == CHAINS
    assert all(list(pair) == ["Q", "A"] and pair["Q"] and pair["A"] for pair in entry["QA"].values())


def test_every_pair_has_three_test_records_and_one_train_record():
    for cases, least in ((TEST, 3), (TRAIN, 1)):
        counts = Counter((entry["case"]["Anatomy"], entry["case"]["Modality"]) for entry in cases.values())
        assert set(counts) == set(PAIR_LIST)
        assert min(counts.values()) >= least
    assert (len(TEST), len(TRAIN)) == (66, 22)
    assert sum(len(entry["QA"]) for entry in TEST.values()) == 726


def test_prefix_of_22_covers_every_pair_in_the_order_of_the_benchmark():
    first = [(entry["case"]["Anatomy"], entry["case"]["Modality"]) for entry in list(TEST.values())[:22]]
    assert first == PAIR_LIST


def test_splits_share_no_case_record_patient_or_disease():
    assert not set(TEST) & set(TRAIN)
    assert len(CASES) == 88
    for part in ("Information", "Disease", "Report", "Treatment"):
        seen = Counter(json.dumps(record[part]).lower() for record in RECORDS.values())
        assert max(seen.values()) == 1, seen.most_common(1)


@pytest.mark.parametrize(
    ("outer", "inner"),
    [("Anomaly", "Symptom"), ("OrganBiomarker", "OrganObject"), ("Indicator", "Name"), ("Information", "Complaint")],
)
def test_names_are_distinct_between_records(outer, inner):
    seen = Counter(record[outer][inner].lower() for record in RECORDS.values())
    assert [name for name, count in seen.items() if count > 1] == []


@pytest.mark.parametrize(("outer", "inner"), [("OrganBiomarker", "OrganDim"), ("AnomalyBiomarker", "AnomalyDim")])
def test_measured_quantities_vary(outer, inner):
    assert len({record[outer][inner] for record in RECORDS.values()}) >= 20


# --- clinical consistency ---


@EACH_RECORD
def test_anomaly_is_the_same_in_both_places(record):
    assert record["AnomalyBiomarker"]["AnomalyObject"] == record["Anomaly"]["Symptom"]


@EACH_RECORD
def test_findings_name_organ_anomaly_and_both_quantities(record):
    finding = record["Report"]["Finding"]
    assert 3 <= sentences(finding) <= 5
    for name in (record["OrganBiomarker"]["OrganObject"], record["Anomaly"]["Symptom"]):
        assert name.lower() in finding.lower()
    for quantity in (record["OrganBiomarker"]["OrganQuant"], record["AnomalyBiomarker"]["AnomalyQuant"]):
        assert quantity in finding


@EACH_RECORD
def test_findings_name_the_measured_dimensions_in_words(record):
    finding = plural_aware(record["Report"]["Finding"])
    for dimension in (record["OrganBiomarker"]["OrganDim"], record["AnomalyBiomarker"]["AnomalyDim"]):
        if dimension == "number":  # a count stands before its noun: "7 levels"
            continue
        stems = {word[:4] for word in finding}
        assert any(word[:4] in stems for piece in words(dimension) for word in piece.split("-")), dimension


@EACH_RECORD
def test_impression_is_short_names_the_disease_and_repeats_only_known_numbers(record):
    impression = record["Report"]["Impression"]
    assert 1 <= sentences(impression) <= 2
    assert record["Disease"].lower() in impression.lower()
    known = numbers(record["Report"]["Finding"]) | numbers(" ".join(record["Indicator"].values()))
    assert numbers(impression) <= known | numbers(record["Disease"])


@EACH_RECORD
def test_quantities_have_a_number_and_a_sane_unit(record):
    for quantity in (record["OrganBiomarker"]["OrganQuant"], record["AnomalyBiomarker"]["AnomalyQuant"]):
        assert UNIT.match(quantity), quantity


@EACH_RECORD
def test_unit_fits_the_measured_dimension(record):
    for outer in ("Organ", "Anomaly"):
        dimension, quantity = record[f"{outer}Biomarker"][f"{outer}Dim"], record[f"{outer}Biomarker"][f"{outer}Quant"]
        if re.search(r"\b(volume)$", dimension):
            assert quantity.endswith("mL")
        if re.search(r"\b(area)$", dimension):
            assert quantity.endswith(("mm2", "cm2"))
        if re.search(r"\b(angle|slope|inclination|tilt|rotation)$", dimension):
            assert quantity.endswith("degrees")
        if re.search(r"\b(ratio|index)$", dimension):
            assert quantity.replace(".", "").isdigit()
        if re.search(r"\b(diameter|thickness|length|width|depth|extent|calibre)$", dimension) and "%" not in quantity:
            assert quantity.endswith((" mm", " cm"))


@EACH_RECORD
def test_findings_speak_the_language_of_the_modality(record):
    text = record["Report"]["Finding"] + record["Anomaly"]["Symptom"]
    assert not re.search(FOREIGN[record["Modality"]], text, re.IGNORECASE)


@EACH_RECORD
def test_sex_fits_organs_disease_and_history(record):
    info = record["Information"]
    other = "Male" if info["Sex"] == "Female" else "Female"
    names = (record["Disease"], record["Anomaly"]["Part"], record["OrganBiomarker"]["OrganObject"])
    own_text = " ".join((*names, info["History"], info["Complaint"]))
    assert not re.search(SEX_SPECIFIC[other], own_text, re.IGNORECASE)


def test_breast_patients_are_female_except_the_man_with_gynaecomastia():
    men = [r["Disease"] for r in RECORDS.values() if r["Anatomy"] == "Breast" and r["Information"]["Sex"] == "Male"]
    assert men == ["Gynaecomastia"]


@EACH_RECORD
def test_indicator_value_is_a_plausible_level(record):
    value = record["Indicator"]["Value"]
    assert len(value) <= 60
    level = r"\d|\b(I{1,3}|IV|V|[IVX]+[AB]?)\b|moderate|severe|large|definite|met|negative|response|(grade|type|category) [a-d]\b"
    assert re.search(level, value, re.IGNORECASE)


@pytest.mark.parametrize("word", SCORE_PLACE)
def test_score_is_used_where_it_applies(word):
    anatomy, modalities = SCORE_PLACE[word]
    users = [record for record in RECORDS.values() if word.lower() in record["Indicator"]["Name"].lower()]
    assert users
    for record in users:
        assert (record["Anatomy"], record["Modality"]) in [(anatomy, modality) for modality in modalities.split()]


@pytest.mark.parametrize("disease", DISEASE_SCORE)
def test_disease_carries_its_usual_score(disease):
    users = [record for record in RECORDS.values() if re.search(disease, record["Disease"], re.IGNORECASE)]
    assert users
    assert all(DISEASE_SCORE[disease] in record["Indicator"]["Name"] for record in users)


@EACH_RECORD
def test_side_of_anomaly_and_organ_do_not_contradict(record):
    anomaly_sides = {"left", "right"} & set(words(record["Anomaly"]["Part"] + " " + record["Anomaly"]["Symptom"]))
    organ_sides = {"left", "right"} & set(words(record["OrganBiomarker"]["OrganObject"]))
    if len(anomaly_sides) == 1 and organ_sides:
        assert anomaly_sides == organ_sides


@EACH_RECORD
def test_treatment_is_one_paragraph_of_several_sentences(record):
    assert 2 <= sentences(record["Treatment"]) <= 5
    assert 30 <= len(words(record["Treatment"])) <= 90


# --- questions ---


@EACH_CASE
def test_questions_give_nothing_away(entry):
    record = entry["case"]
    secret = name_words(record) | set(GIVEAWAY)
    for chain, pair in entry["QA"].items():
        found = plural_aware(pair["Q"]) & secret
        assert not found, (chain, found, pair["Q"])
        for name in (record["Disease"], record["Anatomy"], record["Modality"], record["Anomaly"]["Symptom"]):
            assert not re.search(rf"\b{re.escape(name)}\b", pair["Q"], re.IGNORECASE)
        for quantity in (record["OrganBiomarker"]["OrganQuant"], record["AnomalyBiomarker"]["AnomalyQuant"]):
            assert not re.search(rf"\b{re.escape(quantity)}(?!\w)", pair["Q"].replace(record["Information"]["Age"], ""))


@EACH_CHAIN
def test_questions_of_a_chain_are_all_different(chain):
    questions = [entry["QA"][chain]["Q"] for entry in CASES.values()]
    assert len(set(questions)) == len(questions)


@EACH_CHAIN
def test_task_sentence_of_a_chain_has_at_least_six_phrasings(chain):
    tasks = Counter(re.split(r"(?<=[.?]) ", entry["QA"][chain]["Q"])[-1] for entry in TEST.values())
    assert len(tasks) >= 6
    for first, second in combinations(tasks, 2):
        shared = set(words(first)) & set(words(second))
        assert len(shared) < 0.9 * min(len(set(words(first))), len(set(words(second))))


@EACH_CHAIN
def test_task_can_be_told_from_the_question(chain):
    for entry in CASES.values():
        question = entry["QA"][chain]["Q"]
        assert guess_chain(question) == chain, question


@EACH_CASE
def test_patient_named_in_a_question_is_the_patient_of_the_record(entry):
    info = entry["case"]["Information"]
    nouns = {"Male": ("boy", "man"), "Female": ("girl", "woman")}[info["Sex"]]
    for pair in entry["QA"].values():
        for noun, age in re.findall(r"\b(boy|girl|man|woman) aged (\d+)", pair["Q"]):
            assert noun == nouns[int(info["Age"]) >= 18]
            assert age == info["Age"]


# --- reference answers ---


@EACH_CASE
def test_answers_contain_what_the_chain_asks_for(entry):
    record = entry["case"]
    organ, anomaly, indicator = record["OrganBiomarker"], record["AnomalyBiomarker"], record["Indicator"]
    finding, impression = record["Report"].values()
    both = [organ["OrganQuant"], anomaly["AnomalyQuant"]]
    needed = {
        "012": ["[Organ Mask]", organ["OrganObject"]],
        "013": ["[Anomaly Mask]", anomaly["AnomalyObject"]],
        "014": [record["Disease"]],
        "0123": ["[Organ Mask]", "[Anomaly Mask]", organ["OrganObject"], anomaly["AnomalyObject"]],
        "01235": ["[Organ Mask]", "[Anomaly Mask]", record["Disease"]],
        "0126": list(organ.values()),
        "0136": list(anomaly.values()),
        "01348": [finding, impression],
        "0123568": [finding, impression, *both],
        "01235678": [finding, impression, *both, *indicator.values()],
        "012356789": [record["Treatment"], record["Disease"], indicator["Value"]],
    }
    for chain, texts in needed.items():
        answer = entry["QA"][chain]["A"].lower()
        assert [text for text in texts if text.lower() not in answer] == [], chain


@EACH_CASE
def test_masks_appear_only_where_masks_are_asked_for(entry):
    organ = {chain for chain, pair in entry["QA"].items() if "[Organ Mask]" in pair["A"]}
    anomaly = {chain for chain, pair in entry["QA"].items() if "[Anomaly Mask]" in pair["A"]}
    assert organ == {"012", "0123", "01235"}
    assert anomaly == {"013", "0123", "01235"}


@EACH_CASE
def test_answers_are_clean_text(entry):
    for pair in entry["QA"].values():
        for text in pair.values():
            assert not re.search(r"[{}]|\.\.|  |\bNone\b|TODO", text)
            assert text[0].isupper() or text[0] == "["
            assert not re.search(r"\b(\w+) \1\b|\ba (X-ray|MRI|Ultrasound)\b", text, re.IGNORECASE)


# --- term lists and build ---


def test_term_lists_are_long_enough_and_without_repeats():
    terms = yaml.safe_load((FOLDER / "terms.yaml").read_text(encoding="utf-8"))
    least = {
        "organ_list": 60,
        "anomaly_list": 60,
        "disease_list": 60,
        "organ_dim_list": 24,
        "anomaly_dim_list": 24,
        "indicator_list": 60,
    }
    assert list(terms) == list(least)
    for name, entries in terms.items():
        assert all(isinstance(entry, str) and entry.strip() == entry for entry in entries)
        assert len({entry.lower() for entry in entries}) == len(entries) >= least[name]


def test_term_lists_add_names_that_no_record_uses():
    terms = yaml.safe_load((FOLDER / "terms.yaml").read_text(encoding="utf-8"))
    places = {
        "organ_list": ("OrganBiomarker", "OrganObject"),
        "anomaly_list": ("Anomaly", "Symptom"),
        "indicator_list": ("Indicator", "Name"),
        "organ_dim_list": ("OrganBiomarker", "OrganDim"),
        "anomaly_dim_list": ("AnomalyBiomarker", "AnomalyDim"),
    }
    used = {name: {record[outer][inner] for record in RECORDS.values()} for name, (outer, inner) in places.items()}
    used["disease_list"] = {record["Disease"] for record in RECORDS.values()}
    for name, entries in terms.items():
        assert not {entry.lower() for entry in entries} & {entry.lower() for entry in used[name]}


@pytest.mark.parametrize("split", builder.SPLITS)
def test_committed_file_is_what_the_tables_give(split):
    assert (FOLDER / f"{split}.json").read_text(encoding="utf-8") == builder.render(builder.build()[split])


@slow
def test_check_passes_on_current_files_and_fails_on_a_changed_one(tmp_path, monkeypatch, capsys):
    assert builder.main(["--check"]) == 0
    for source in FOLDER.rglob("*.yaml"):
        copy = tmp_path / source.relative_to(FOLDER)
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(source.read_bytes())
    monkeypatch.setattr(builder, "HERE", tmp_path)
    assert builder.main(["--check"]) == 1
    assert "test.json, train.json" in capsys.readouterr().err
    assert builder.main([]) == 0
    assert builder.main(["--check"]) == 0
    stale = tmp_path / "train.json"
    stale.write_text(stale.read_text(encoding="utf-8").replace("Male", "Female", 1), encoding="utf-8")
    assert builder.main(["--check"]) == 1
