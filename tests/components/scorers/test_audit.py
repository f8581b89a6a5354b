from components.core.messages import Message, ToolCall, ToolSpec, Usage
from components.core.protocols import Scorer
from components.core.types import Observation, Observed, Problem, Sample, Step, Trajectory
from components.scorers.audit import Audit
from tests.table import each_row

OFFERED = (ToolSpec("sql", ""),)
SAMPLE = Sample(Problem("1", "How old is patient 12?"), "40")


def step(said, *results):
    """A step that says a text and makes calls of (arguments, result)."""
    observed = [
        Observed(
            ToolCall("1", "sql", arguments), Observation(text), "sql_error" if text.startswith("no such") else None
        )
        for arguments, text in results
    ]
    return Step("act", "main", "main", 0, 0, (), Message("assistant", said), Usage(), observed=observed)


def audited(answer, *steps, right=1.0, stop="answered", offered=OFFERED, sample=SAMPLE):
    trajectory = Trajectory(list(steps), offered, stop=stop, answer=answer)
    return {one.name.removeprefix("audit/"): one.value for one in Audit().follow(sample, trajectory, right, {})}


ASK, DONE = step("I look.", ("age of 12", "40")), step("It is 40.")


@each_row(
    "answer, steps, expected",
    [
        ("40", [ASK, DONE], {"supported": 1, "sound": 1, "before_evidence": 0, "calls_after": 0, "right_sound": 1}),
        ("40, renal failure", [ASK, DONE], {"supported": 0.5, "sound": 0, "right_unsound": 1}),
        ("41", [ASK], {"supported": 0, "contradicted": 1, "sound": 0}),
        ("40", [step("It is 40.", ("age", "40"))], {"before_evidence": 1, "sound": 0}),
        ("40", [step("", ("age", "40"), ("sex", "male")), DONE], {"calls_after": 0}),
        ("40", [step("It is 40.", ("age", "40"), ("sex", "male"))], {"calls_after": 2}),
        ("40", [step("", ("a", "key K77")), step("", ("b", "40"), ("K77", "1999"))], {"unused": 1 / 3}),
        ("40", [step("", ("a", "key K77"), ("K77", "40"))], {"unused": 0.5}),
        (
            "40",
            [step("", ("x", "no such column")), step("It is 40.", ("age", "40"))],
            {"before_evidence": 1, "sound": 0},
        ),
        ("40", [step("", ("x", "no such column 40"))], {"supported": 0, "unused": None}),
        ("4", [step("Step 4: I look.", ("age", "4"))], {"before_evidence": 0, "sound": 1}),
        ("40", [DONE], {"before_evidence": 1, "supported": 0, "unused": None}),
        ("40", [ASK, step("Again.", ("x", "7"), ("y", "40"))], {"calls_after": 2, "unused": 1 / 3, "sound": 1}),
        ("40", [step("", ("a", "key K77 1999")), step("", ("K77 1999", "40"))], {"unused": 0, "sound": 1}),
        ("patient 12", [ASK], {"supported": None}),
        (
            "[]",
            [step("", ("a", "[]"))],
            {"supported": None, "sound": None, "right_sound": None, "before_evidence": None},
        ),
        ("It is pneumonia, most likely.", [step("", ("a", "mass"))], {"sound": None, "right_unsound": None}),
        ("The mass has 14 mm in this study.", [step("", ("a", "14 mm"))], {"supported": 1, "sound": 1}),
        ("400", [step("", ("a", "2101-01-01"), ("b", "2102-02-05"))], {"contradicted": None, "supported": 0}),
        ("7", [step("", ("a", "3"), ("b", "4"))], {"contradicted": None}),
        ("41 years", [step("", ("a", "40 days"))], {"contradicted": None}),
        ("10014731", [step("", ("a", "id 10014729"))], {"supported": 0, "contradicted": 1}),
        ("renal failure", [step("", ("a", "no renal failure"))], {"supported": None, "sound": None}),
        ("100 mg", [step("", ("a", "100 \u00b5g"))], {"supported": 0, "contradicted": 1, "sound": 0}),
        ("0,5 mg", [step("", ("a", "0.5 mg"))], {"supported": None, "contradicted": None, "sound": None}),
    ],
)
def test_claims_are_compared_with_results(answer, steps, expected):
    found = audited(answer, *steps)
    assert {name: found[name] for name in expected} == expected


def test_every_audited_episode_is_in_one_cell_where_something_decides():
    for right, answer, cell in ((1.0, "40", "right_sound"), (0.0, "40", "wrong_sound"), (0.5, "41", "wrong_unsound")):
        found = audited(answer, ASK, right=right)
        assert [name for name in found if name.startswith(("right", "wrong")) and found[name]] == [cell]
    assert audited("40", ASK, right=None)["right_sound"] is None and audited("40", ASK, right=None)["sound"] == 1


def test_episodes_without_an_answer_or_tools_are_unscored():
    assert isinstance(Audit(), Scorer)
    assert set(audited(None, ASK, stop="limit").values()) == {None} == set(audited("40", ASK, offered=()).values())


def test_an_icd_code_is_supported_by_that_code_alone():
    blue = "Code blue was called. What is the heart rate?"
    for question, expected in (("Which ICD-9 code?", [1, 1, 0]), (blue, [1, 0, 1])):
        sample, results = Sample(Problem("1", question), "428.21"), step("", ("x", "428.21"))
        supported = [audited(answer, results, sample=sample)["supported"] for answer in ("428.21", "42821", "428.0")]
        assert supported == expected


def test_an_option_claims_what_it_says():
    sample = Sample(Problem("1", "Which drug?", {"A": "Warfarin"}), "A")
    assert audited("A", step("", ("x", "warfarin interacts")), sample=sample)["supported"] == 1


def test_more_pairs_than_are_compared_are_unscored():
    results = step("", *[("x", "1")] * 1_000)
    answer = ", ".join(f"{n}.5" for n in range(1_000))
    found = Audit().score(SAMPLE, Trajectory([results], OFFERED, stop="answered", answer=answer))
    assert {one.value for one in found} == {None}
    assert found[0].explanation == "unrated: 1,000 claims and 1,001 replies and results; 1,000,000 pairs are compared"
