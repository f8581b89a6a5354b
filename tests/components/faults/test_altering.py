from random import Random

from components.core.tools import NoState
from components.core.types import Observation
from components.faults.marks import change_values, memory_behind, shift_numbers
from components.radiology.memory import open_memory
from tests.failing import STUDY
from tests.golden.vectors import PAPER
from tests.table import each_row

SEEN = Observation("", {"outputs": {"$Anatomy$": "Chest", "$OrganMask$": "PLACEHOLDER"}, "score": 0.5})


def memory():
    return open_memory(STUDY.metadata["record"], "012", PAPER)


def test_values_change_in_memory_and_in_what_is_said():
    state = memory()
    found = change_values("noisy", SEEN, state, lambda name, _: "Limb" if name == "$Anatomy$" else None, amount=1)
    assert found.text == '{"$Anatomy$":"Limb","$OrganMask$":"PLACEHOLDER","score":0.5}'
    assert found.data["faults"] == [{"kind": "noisy", "changes": {"$Anatomy$": ["Chest", "Limb"]}, "amount": 1}]
    assert state.values["$Anatomy$"] == "Limb" and state.wrong == {"$Anatomy$": "Limb"}


def test_the_recorded_and_the_displayed_value_can_be_distinguished():
    found = change_values(
        "x", SEEN, memory(), lambda name, value: f"{value} or Limb", {"$Anatomy$": "Limb", "$OrganMask$": ""}
    )
    assert found.data["faults"][0]["changes"]["$Anatomy$"] == ["Chest", "Limb"]


def test_an_unchanged_result_is_not_marked():
    state = memory()
    assert change_values("noisy", SEEN, state, lambda *_: None) is SEEN and state.wrong == {}


def test_only_tools_over_a_memory_have_values():
    own = memory()
    assert memory_behind(SEEN, own) is own
    assert memory_behind(SEEN, NoState()) is None and memory_behind(Observation(""), own) is None


@each_row(
    "text, either",
    [
        ("14 mm", {"17 mm", "11 mm"}),
        ("0.50.", {"0.60.", "0.40."}),
        ("1,200 rows", {"1,440 rows", "960 rows"}),
        ("[(10,)]", {"[(12,)]", "[(8,)]"}),
        ("-5", {"-6", "-4"}),
        ("1", {"2", "0"}),
        ("0", {"1"}),
        ("[10,20]", {"[12,24]", "[12,16]", "[8,24]", "[8,16]"}),
    ],
)
def test_a_number_is_off_by_its_share_in_its_own_digits(text, either):
    found = {shift_numbers(text, 0.2, Random(n)).text for n in range(40)}
    assert found == either


@each_row("text", ["2105-03-04 12:30:00", "TR5", "id_12", "v1.2.3", "3/4", "none"])
def test_dates_times_and_identifiers_stay(text):
    assert shift_numbers(text, 0.2, Random(1)) == (text, 0)


def test_any_digits_count_where_a_value_is_a_code():
    assert shift_numbers("TR5", 0.2, Random(1), whole=True).text in ("TR4", "TR6")


def test_all_numbers_are_counted():
    assert shift_numbers("1 and 2 on 2105-03-04", 0.2, Random(1)).n == 2


def test_a_number_may_have_more_digits_than_arithmetic_has_by_itself():
    found = shift_numbers(f"{2**200} or {'5' * 40}.5", 0.2, Random(1))
    assert found.n == 2 and len(found.text) == len(f"{2**200} or {'5' * 40}.5")


def test_a_small_number_is_written_as_it_was():
    assert "E" not in shift_numbers("0.000000000001", 0.2, Random(1)).text
