"""Values are assigned to the splits by the seed alone, scarce ones first."""

from collections import Counter

from data_builders.ehr_mini.dealing import SPLITS, Deal


def split_of(deal, **slots):
    return tuple(split for split in SPLITS if deal.allows(slots, split))


POOL = [{"drug": f"d{n}", "year": str(2100 + n % 6)} for n in range(50)]


def test_an_open_slot_has_each_value_in_one_split():
    deal = Deal([POOL], ["year"], "seed")
    found = Counter(split_of(deal, drug=row["drug"]) for row in POOL)
    assert found == {("test",): 20, ("valid",): 20, ("train",): 10}


def test_test_and_valid_share_the_values_of_a_closed_slot():
    deal = Deal([POOL], ["year"], "seed")
    found = Counter(split_of(deal, year=str(year)) for year in range(2100, 2106))
    assert found == {("test", "valid"): 4, ("train",): 2}


def test_all_values_of_a_question_must_belong_to_the_split():
    deal = Deal([POOL], ["year"], "seed")
    one = next(row["drug"] for row in POOL if split_of(deal, drug=row["drug"]) == ("train",))
    assert not deal.allows({"drug": one, "year": "2100"}, "test")
    assert deal.allows({}, "test")


def test_each_split_has_its_share_of_scarce_values():
    scarce = [{"drug": f"d{n}"} for n in (3, 14, 15, 26, 35)]
    deal = Deal([POOL, scarce], [], "seed")
    found = Counter(split_of(deal, **row) for row in scarce)
    assert found == {("test",): 2, ("valid",): 2, ("train",): 1}


def test_assignment_depends_on_the_seed():
    def dealt(seed):
        deal = Deal([POOL], [], seed)
        return [split_of(deal, drug=row["drug"]) for row in POOL]

    assert dealt("a") == dealt("a") != dealt("b")
