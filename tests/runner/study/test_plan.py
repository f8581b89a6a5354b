"""The text of a study: what is refused, and what follows from it."""

import math

import pytest

from components.core.errors import ConfigError
from runner.study.plan import Study, read
from tests.table import each_row

H1 = {"name": "H1", "compare": ["a", "b"], "metric": "m", "kind": "superiority", "direction": "higher",
      "expected": 0.1, "differ": 0.3}  # fmt: skip
STUDY = {"title": "T", "question": "Q?", "common": ["limit=20"], "arms": {"a": ["agent=x"], "b": []},
         "models": {"main": "m"}, "samples": 20, "primary": [H1]}  # fmt: skip


def study(**changes):
    return Study.of(STUDY | changes, "study.yaml")


def one(**changes):
    return {"primary": [H1 | changes]}


REFUSED = {
    "no_hypothesis": ({"primary": []}, "primary: found \\[\\], .*at least 1 item"),
    "unknown_key": ({"alfa": 1}, "alfa: no such key; did you mean alpha"),
    "unknown_arm": (one(compare=["a", "c"]), "H1 compares 'c'; valid: a, b"),
    "one_arm": ({"arms": {"a": []}}, "arms: found"),
    "three_arms_compared": (one(compare=["a", "b", "a"]), "compare: found"),
    "no_margin": (one(kind="equivalence", expected=0.0), "margin: equivalence needs a value above 0"),
    "unknown_kind": (one(kind="inferiority"), "did you mean superiority|valid: equivalence"),
    "no_spread": (one(differ=None), "give sd or, for scores of 0 and 1, differ"),
    "two_spreads": (one(sd=0.5), "give sd or, for scores of 0 and 1, differ"),
    "too_few_differ": (one(differ=0.05), "0.05 of the pairs cannot make a gain of 0.1"),
    "claim_not_expected": (one(expected=-0.1), r"with a gain of -0.1 the claim \(gain > 0\) would not be true"),
    "not_equivalent": (one(kind="equivalence", margin=0.05), r"claim \(-0.05 < gain < 0.05\) would not be true"),
    "itself": (one(compare=["a", "a"]), "'a' is compared with itself"),
    "no_number": (one(expected=math.nan), r"primary\[0\].expected: found nan, should be a finite number"),
    "endless": (one(differ=None, sd=math.inf), "sd: found inf, should be a finite number"),
    "long_name": (one(name="H" * 81), "name: found 'HHH"),
    "escape": ({"title": "\x1b[31mred"}, "title: found "),
    "many_looks": ({"looks": [2, 3], "alpha": 0.002}, "2 of 0.001 each leave nothing of alpha 0.002"),
    "interval_of_less": ({"alpha": 0.1}, "alpha: found 0.1, should be .*0.05"),
    "same_name": ({"secondary": [H1]}, "two hypotheses are called 'H1'"),
    "late_look": ({"looks": [20]}, "must increase, and be below the 20 samples"),
    "empty_exclusion": ({"exclusions": [{"reason": "r"}]}, "names ids of samples, or values of strata"),
    "address": ({"timestamp": "freetsa.org"}, "timestamp: found"),
}  # fmt: skip


@each_row("changes, text", REFUSED.values())
def test_a_study_is_refused_in_a_line_that_names_the_key(changes, text):
    with pytest.raises(ConfigError, match=f"^study.yaml: .*({text})"):
        study(**changes)


def test_claims_have_bounds():
    kinds = {"superiority": 0.0, "non-inferiority": 0.05, "equivalence": 0.2}
    found = {kind: study(**one(kind=kind, margin=of)).primary[0] for kind, of in kinds.items()}
    assert [of.bounds for of in found.values()] == [(0, math.inf), (-0.05, math.inf), (-0.2, 0.2)]
    assert [of.claim for of in found.values()] == ["gain > 0", "gain > -0.05", "-0.2 < gain < 0.2"]
    assert [of.sentence for of in found.values()] == [
        "a is better than b, by m", "a is less than 0.05 worse than b, by m", "a differs by less than 0.2 from b, by m",
    ]  # fmt: skip
    assert found["equivalence"].room == pytest.approx((0.3, 0.1))
    assert found["superiority"].spread == pytest.approx(math.sqrt(0.3 - 0.01))
    assert study(**one(expected=0.9, differ=0.9)).primary[0].spread == pytest.approx(0.3)  # all differ in one way


def test_words_of_an_arm_have_its_seed_and_the_budget():
    found = study(budget={"usd": 2.5, "calls": 2_000_000}, seeds=[3])
    assert found.words("a", 3) == [
        "limit=20", "agent=x", "seed=3", "budget.run.usd=2.5", "budget.run.calls=2000000",
    ]  # fmt: skip


def test_exclusions_by_id_and_by_all_strata():
    found = study(exclusions=[{"reason": "r", "ids": ["q1"], "strata": {"x": "1", "y": "2"}}]).exclusions[0]
    assert found.holds("q1", {}) and found.holds("q2", {"x": "1", "y": "2"})
    assert not found.holds("q2", {"x": "1"}) and not found.holds("q2", {})


def test_a_file_that_is_no_study(tmp_path):
    path = tmp_path / "study.yaml"
    with pytest.raises(ConfigError, match=r"cannot be read: No such file.*runner.protocol new"):
        read(path)
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\ncommon: [*b, *b]"
    for text, why in (("a: [", "study.yaml: while parsing"), ("x" * 1_000_001, "1,000,001 bytes; a study has at most"),
                      (bomb, r"study.yaml: \*a stands for another part: write it out")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(ConfigError, match=why):
            read(path)
    with pytest.raises(ConfigError, match="a study is a mapping"):
        Study.of([1], "study.yaml")
