"""What the analysis of a study says of a hypothesis."""

from pathlib import Path

from components.core.score_names import EXPECTED, RATED
from runner.protocol.analysis import Analysis
from runner.results.runs import Run
from runner.results.table import Table
from runner.study.frozen import Frozen
from tests.runner.results.test_harm import record
from tests.runner.study.test_plan import H1, STUDY


def verdict_and_lost(tmp_path, *arms):
    """Of the claim that arm ``a`` does less harm than ``b``, whose cases have these harms and severities."""
    runs = {}
    for name, cases in zip("ab", arms, strict=True):
        records = [
            record(f"s{n}", None, scores={EXPECTED: harm, RATED: rated}) for n, (harm, rated) in enumerate(cases)
        ]
        runs[name, 0] = Run(tmp_path, {"id": name, "protocol": {}, "kinds": {EXPECTED: "share"}}, {})
        vars(runs[name, 0])["table"] = Table.of(records)
    hypothesis = H1 | {"metric": EXPECTED, "direction": "lower", "differ": None, "sd": 0.5}
    planned = [{"arm": arm, "seed": 0, "episodes": len(arms[0])} for arm in "ab"]
    frozen = Frozen(Path(tmp_path / "study.yaml"), "", "", STUDY | {"primary": [hypothesis]}, "", (), {}, planned)
    analysis = Analysis(frozen, runs, (), ())
    return analysis.findings[0].verdict, analysis.lost(analysis.study.primary[0])


def test_unrated_errors_are_named_next_to_the_verdict(tmp_path):
    right, unrated, bad = (0.0, None), (None, 0.0), (0.9, 1.0)
    mine, theirs = [right] * 29 + [(0.05, 1.0)], [bad] * 20 + [right] * 10
    assert verdict_and_lost(tmp_path, mine, theirs) == ("shown", {})
    some = [*mine[:25], *[unrated] * 4, mine[29]]
    assert verdict_and_lost(tmp_path, some, theirs) == ("shown, 4 pairs without rated harm", {})
    none = [*mine[:25], *[unrated] * 5]
    assert verdict_and_lost(tmp_path, none, theirs) == ("cannot be tested, 30 pairs without rated harm", {})
