from components.tools.umls import Concept, Relation, no_concept

MANY = tuple(Relation("Asthma", "is_treated_by", f"Drug {n}") for n in range(7))


def test_a_concept_is_shown_with_its_preferred_definition_and_five_relations():
    shown = Concept("C1", "Asthma", {"ABC": "a", "NCI": "n", "MSH": "m"}, MANY).as_text
    assert shown.splitlines() == [
        "Name: Asthma (C1)",
        "Definition: m (MSH)",
        "Relations:",
        *(f"(Asthma, is_treated_by, Drug {n})" for n in range(5)),
    ]


def test_sources_are_preferred_in_their_order_and_others_come_last():
    definitions = dict.fromkeys(("ZZZ", "ABC", "HPO", "CSP", "ICF", "NCI", "MSH"), "x")
    order = []
    while definitions:
        order.append(Concept("C1", "x", definitions).source)
        del definitions[order[-1]]
    assert order == ["MSH", "NCI", "ICF", "CSP", "HPO", "ABC", "ZZZ"]


def test_unrecorded_fields_are_stated():
    concept = Concept("C1", "Asthma", {})
    assert concept.source is None
    assert concept.as_text == "Name: Asthma (C1)\nDefinition: none recorded\nRelations: none recorded"


def test_no_concept_is_empty():
    assert no_concept("zebra").label == "empty" and "'zebra'" in str(no_concept("zebra"))
