"""Make the sample data of the knowledge tools from the written facts in the folder ``facts``.

Results: ``drugs.jsonl``, ``vocabulary.jsonl``, ``corpus/textbook.jsonl``, ``corpus/summaries.jsonl``, ``web.jsonl``.
Run ``python -m data_builders.tools``; with ``--check`` nothing is written and the exit code is 1 when a
committed file differs from the facts.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_builders.facts import Disease, Drug, Facts, Term, inline, listed, load_facts
from data_builders.shipped import COMPONENTS, arguments_of, keep

SHIPPED = COMPONENTS / "tools" / "data"
SITE = "https://health.wardround.example"
TYPES = {
    "anatomy": "Body Part, Organ, or Organ Component",
    "findings": "Sign or Symptom",
    "procedures": "Therapeutic or Preventive Procedure",
    "tests": "Diagnostic Procedure",
}
CLOSING = "This page is invented for tests of software. It is general information and replaces no medical advice."


def article(noun: str) -> str:
    """Put a or an before a noun phrase."""
    an = re.match(r"HMG|SV2A|NS5B|[aeioAEIO]", noun) or (noun[0] == "u" and not noun.startswith("uro"))
    return f"{'an' if an else 'a'} {noun}"


def first_up(text: str) -> str:
    """Raise the first letter."""
    return text[:1].upper() + text[1:]


def bare(meaning: str) -> str:
    """A definition without its leading article, as a sentence."""
    return first_up(re.sub(r"^(an?|the) ", "", meaning)) + "."


def dosage(form: str) -> dict[str, str]:
    """One dosage from "form | route | strength"."""
    return dict(zip(("from", "route", "strength"), form.split(" | "), strict=True))


def drug_row(drug: Drug) -> dict[str, Any]:
    """A row of the drug table in DrugBank's keys."""
    return {
        "name": drug.name,
        "description": f"{drug.name} is {article(drug.group)}. It {drug.acts}. "
        f"Unwanted effects include {listed(drug.harm)}. {drug.care}",
        "state": drug.state,
        "indication": f"Used for {drug.use}.",
        "dosages": [dosage(form) for form in drug.forms],
        "synonyms": list(drug.also),
    }


def drug_passage(drug: Drug, facts: Facts) -> tuple[str, str]:
    """Title and content of a drug's passage."""
    supplied = [f"{one['from']} of {one['strength']} ({one['route']})" for one in map(dosage, drug.forms)]
    treated = [inline(name) for name in facts.treated(drug.name)]
    given = "A disease treated with it is" if len(treated) == 1 else "Diseases treated with it are"
    return drug.name, (
        f"{drug.name}, also known as {listed(drug.also, 'or')}, is {article(drug.group)}. It {drug.acts}. Its main use "
        f"is {drug.use}. {given} {listed(treated)}. Unwanted effects to watch for include {listed(drug.harm)}. "
        f"{drug.care} It is supplied as {listed(supplied)}."
    )


def disease_passage(disease: Disease) -> tuple[str, str]:
    """Title and content of a disease's passage."""
    others = listed([inline(name) for name in disease.also], "or")
    treatment = [inline(name) for name in disease.drugs] + ([inline(disease.procedure)] if disease.procedure else [])
    used = f" Treatment may include {listed(treatment)}." if treatment else ""
    return disease.name, (
        f"{disease.name}, also called {others}, is {disease.meaning}. It arises from "
        f"{disease.cause}. Its typical site is the {inline(disease.site)}. Frequent findings are "
        f"{listed([inline(name) for name in disease.findings])}. An examination that helps to recognise it is "
        f"{inline(disease.test)}, which shows {disease.shows}. {disease.care}{used} {disease.note}"
    )


def page(disease: Disease, facts: Facts) -> dict[str, Any]:
    """A web page on a disease, for readers without training."""
    slug = unicodedata.normalize("NFKD", disease.name).encode("ascii", "ignore").decode().lower()
    noticed = [f"{inline(name)} ({inline(facts.terms[name].definition)})" for name in disease.findings]
    drugs = [facts.drugs[name] for name in disease.drugs]
    effects = [f"{drug.name} {drug.acts}; it can cause {listed(drug.harm, 'or')}." for drug in drugs]
    test, others = facts.terms[disease.test], listed([inline(name) for name in disease.also], "or")
    return {
        "url": f"{SITE}/{re.sub('[^a-z0-9]+', '-', slug)}",
        "title": f"{disease.name}: what to know",
        "paragraphs": [
            f"{disease.name} is {disease.meaning}. Another name for it is {others}.",
            f"Why does it happen? It arises from {disease.cause}.",
            f"People may notice {listed(noticed)}.",
            f"How is it found? Doctors often use {inline(test.name)}: {inline(test.definition)}. Here it shows "
            f"{disease.shows}.",
            f"What can be done? {disease.care}",
            *effects,
            f"Good to know: {disease.note}",
            CLOSING,
        ],
    }


def concepts(facts: Facts) -> list[dict[str, Any]]:
    """All rows of the vocabulary, diseases first; numbered in the order of the tables."""
    rows = [
        *(
            _concept(one.name, one.also, "Disease or Syndrome", bare(one.meaning), _of_disease(one))
            for one in facts.diseases.values()
        ),
        *(
            _concept(
                drug.name, drug.also, "Pharmacologic Substance", f"{first_up(article(drug.group))} that {drug.acts}.",
                [("may_treat", name) for name in facts.treated(drug.name)],
            )
            for drug in facts.drugs.values()
        ),
        *(
            _concept(term.name, term.also, TYPES[term.kind], f"{term.definition}.", _of_term(term, facts))
            for term in facts.terms.values()
        ),
    ]  # fmt: skip
    return [{"cui": f"WR{number:04}", **row} for number, row in enumerate(rows, start=1)]


def _concept(
    name: str, also: Sequence[str], kind: str, definition: str, relations: Iterable[tuple[str, str]]
) -> dict[str, Any]:
    return {
        "name": name,
        "synonyms": list(also),
        "semantic_type": kind,
        "definition": definition,
        "definition_source": "WR",
        "relations": [{"from": name, "label": label, "to": to} for label, to in relations],
    }


def _of_disease(disease: Disease) -> list[tuple[str, str]]:
    """One relation of every kind first, since readers such as UMLS show only a few."""
    treatments = [*disease.drugs, *([disease.procedure] if disease.procedure else [])]
    treated = [("may_be_treated_by", name) for name in treatments]
    found = [("has_manifestation", name) for name in disease.findings]
    single = [("has_finding_site", disease.site), ("may_be_diagnosed_by", disease.test)]
    return [*treated[:2], *single, *found[:1], *treated[2:], *found[1:]]


def _of_term(term: Term, facts: Facts) -> list[tuple[str, str]]:
    uses: Mapping[str, tuple[str, Callable[[Disease], Sequence[str]]]] = {
        "anatomy": ("finding_site_of", lambda disease: [disease.site]),
        "findings": ("manifestation_of", lambda disease: disease.findings),
        "procedures": ("may_treat", lambda disease: [disease.procedure]),
        "tests": ("may_diagnose", lambda disease: [disease.test]),
    }
    label, names = uses[term.kind]
    return [(label, disease.name) for disease in facts.diseases.values() if term.name in names(disease)]


def build() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every file by its path in this folder."""
    facts = load_facts()
    textbook = [disease_passage(one) for one in facts.diseases.values()]
    textbook += [drug_passage(one, facts) for one in facts.drugs.values()]
    summaries = [(one.about, f"The question: {one.question} {one.text}") for one in facts.summaries.values()]
    return {
        "drugs.jsonl": [drug_row(one) for one in facts.drugs.values()],
        "vocabulary.jsonl": concepts(facts),
        "corpus/textbook.jsonl": _passages("textbook", textbook),
        "corpus/summaries.jsonl": _passages("summaries", summaries),
        "web.jsonl": [page(one, facts) for one in facts.diseases.values()],
    }


def _passages(stem: str, texts: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        {"id": f"{stem}-{number:04}", "title": title, "content": content}
        for number, (title, content) in enumerate(texts, start=1)
    ]


def render(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Give the text of one file: a JSON object per line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def main(arguments: Sequence[str] | None = None, home: Path = SHIPPED) -> int:
    """Write the files, or compare them with the tables; return the exit code."""
    check = arguments_of("the sample data of the knowledge tools").parse_args(arguments).check
    return keep(home, {name: render(rows) for name, rows in build().items()}, check)


if __name__ == "__main__":
    sys.exit(main())
