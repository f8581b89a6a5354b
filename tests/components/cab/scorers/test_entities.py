import pytest

from components.cab.scorers.case import Case, Unscored
from components.cab.scorers.entities import official, strict
from tests.table import each_row


def key(*names):
    return {"answer": [{"entity_name": name} for name in names]}


@each_row(
    "answer, gold, by_reference, repaired",
    [
        ('["Asthma", "fever"]', ("asthma", "Fever"), 1, 1),
        ('["Asthma", "asthma", "ASTHMA"]', ("asthma",), 1.5, 1),
        ('["asthma"]', ("asthma", "Asthma"), 2 / 3, 1),
        ("Entities: ['asthma', 'fever']", ("asthma", "fever"), 0, 1),
        ('["asthma"]\n["fever"]', ("asthma", "fever"), 2 / 3, 1),
        ("[asthma]\n[fever", ("asthma", "fever"), 2 / 3, 2 / 3),
        ('["asthma (chronic)"]', ("asthma (chronic)",), 0, 1),
        ('["asthma(chronic)"]', ("asthma",), 1, 1),
        ("The answer is asthma; fever", ("asthma", "fever"), 0, 1),
        ("1. asthma\n2. fever", ("asthma", "fever"), 0, 1),
        ("('asthma', 'fever')", ("asthma", "fever"), 1, 1),
        ("{'asthma'}", ("asthma",), 1, 1),
        ('"ab"', ("a", "b"), 1, 0),
        ("[1, 2]", ("1", "2"), 0, 1),
        ("5", ("5",), 0, 1),
        ("[]", ("asthma",), 0, 0),
        ("", ("asthma",), 0, 0),
        ("[]", (), 0, 0),
    ],
)
def test_f1(answer, gold, by_reference, repaired):
    case = Case(answer, key(*gold))
    assert official(case).value == pytest.approx(by_reference)
    assert strict(case).value == pytest.approx(repaired)


def test_the_order_of_entities_is_the_same_in_every_process():
    names = [f"finding {n}" for n in range(9)]
    for answer in (str(names[::-1]), str(dict.fromkeys(names, 0)), f"{{{str(names)[1:-1]}}}"):
        assert official(Case(answer, key("fever"))).read == names


@each_row("gold", ["asthma", ["asthma"], [{"name": "asthma"}]])
def test_broken_key_cannot_be_scored(gold):
    with pytest.raises(Unscored, match="entity_name"):
        strict(Case("asthma", {"answer": gold}))
