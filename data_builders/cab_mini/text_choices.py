"""The choice tasks that are made from the written facts: medqa, mmlu, bioasq, pubmedqa, medhalt_rht."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from data_builders.cab_mini.cab_records import SIZES, Record, choice, shuffled, table_of
from data_builders.facts import Disease, Drug, Facts, inline

TABLES = "text_choices.yaml"
UNKNOWN = "I do not know"
VERDICTS = ("yes", "no", "maybe")
ASKED = {
    "diagnosis": "Which diagnosis is most likely?",
    "treatment": "Which drug is most suitable now?",
    "test": "Which examination is most suitable?",
}
Phases = dict[str, list[Record]]


def _mixed(question: str, gold: str, others: Sequence[str]) -> Record:
    return choice(question, shuffled([gold, *others], question), gold, {})


def _phases(task: str, make: Callable[[Any], Record]) -> Phases:
    table = table_of(TABLES)[task]
    return {phase: [make(row) for row in table[phase]] for phase in SIZES}


def medqa(facts: Facts) -> Phases:
    """Vignettes of the diseases: which diagnosis, drug or examination."""

    def make(row: Mapping[str, Any]) -> Record:
        disease = facts.diseases[row["about"]]
        gold = {"diagnosis": disease.name, "test": disease.test, "treatment": row.get("answer", "")}[row["asks"]]
        return _mixed(f"{row['text']} {ASKED[row['asks']]}", gold, row["others"])

    return _phases("medqa", make)


def mmlu(facts: Facts) -> Phases:
    """Plain facts on drugs and diseases, with wrong options from the neighbouring rows of the tables."""
    makers: dict[str, Callable[[str, Facts], Record]] = {
        "group": _group, "acts": _acts, "cause": _cause, "shows": _shows,
    }  # fmt: skip
    table = table_of(TABLES)["mmlu"]
    return {
        phase: [makers[kind](name, facts) for kind, names in table[phase].items() for name in names] for phase in SIZES
    }


def _three(question: str, options: Sequence[str]) -> list[str]:
    return shuffled(sorted(set(options)), question)[:3]


def _group(name: str, facts: Facts) -> Record:
    drug = facts.drugs[name]
    question = f"To which class of drugs does {inline(name)} belong?"
    return _mixed(question, drug.group, _three(question, [one.group for one in _unlike(drug, facts)]))


def _acts(name: str, facts: Facts) -> Record:
    drug = facts.drugs[name]
    question = f"Which drug {drug.acts}?"
    return _mixed(question, name, _three(question, [one.name for one in _unlike(drug, facts)]))


def _cause(name: str, facts: Facts) -> Record:
    disease = facts.diseases[name]
    question = f"From what does {inline(name)} arise?"
    return _mixed(question, disease.cause, _three(question, [one.cause for one in _near(disease, facts)]))


def _shows(name: str, facts: Facts) -> Record:
    disease = facts.diseases[name]
    question = f"Which disease is likely when {inline(disease.test)} shows {disease.shows}?"
    return _mixed(question, name, _three(question, [one.name for one in _near(disease, facts)]))


def _unlike(drug: Drug, facts: Facts) -> list[Drug]:
    """Drugs for other diseases and of another class."""
    treated = set(facts.treated(drug.name))
    return [
        one for one in facts.drugs.values() if one.group != drug.group and not treated & set(facts.treated(one.name))
    ]


def _near(disease: Disease, facts: Facts) -> list[Disease]:
    """Other diseases of the same system."""
    return [one for one in facts.diseases.values() if one.system == disease.system and one.name != disease.name]


def bioasq(facts: Facts) -> Phases:
    """Yes/no questions on treatments, classes and findings."""
    forms = {
        "treats": "Is {0} used in the treatment of {1}?",
        "group": "Does {0} belong to the class {1}?",
        "finding": "Is {1} a typical finding in {0}?",
    }

    def make(row: Sequence[str]) -> Record:
        kind, subject, other, answer = row
        return choice(forms[kind].format(inline(subject), inline(other)), VERDICTS[:2], answer, {})

    return _phases("bioasq", make)


def pubmedqa(facts: Facts) -> Phases:
    """Questions of the evidence summaries; as many of every verdict in both phases as can be."""
    made: Phases = {phase: [] for phase in SIZES}
    for verdict in VERDICTS:
        found = [one for one in facts.summaries.values() if one.verdict == verdict]
        for number, one in enumerate(found):
            phase = "train" if number % 7 in (1, 3, 5) and len(made["train"]) < SIZES["train"] else "test"
            made[phase].append(choice(one.question, VERDICTS, one.verdict, {}))
    return made


def medhalt_rht(facts: Facts) -> Phases:
    """Questions about what does not exist; ``facts`` has nothing on them."""

    def make(row: Mapping[str, Any]) -> Record:
        return _mixed(row["question"], UNKNOWN, row["options"])

    return _phases("medhalt_rht", make)
