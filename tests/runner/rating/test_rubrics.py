import pytest

from components.core.errors import ConfigError
from runner.config.catalogue import CONF
from runner.rating.sheets import load
from tests.runner.rating.cases import RUBRIC
from tests.table import each_row

NAMES = [path.stem for path in (CONF / "rubrics").glob("*.yaml")]


@each_row("name", NAMES)
def test_every_shipped_rubric_is_valid_named_by_file_and_has_a_source(name):
    found = load(CONF / "rubrics", name)
    assert found.name == name and len(found.source) > 10


def test_the_papers_numbers_of_categories_and_cases():
    found = {name: load(CONF / "rubrics", name) for name in NAMES}
    assert len(found["medagents_errors"].fields["cause"].categories) == 4 and found["medagents_errors"].draw.n == 40
    made_up = found["medagents_cot_hallucination"]
    assert (made_up.draw.which, made_up.draw.score, made_up.draw.n) == ("failures", "score/strict", 40)
    assert made_up.fields["hallucination"].pick == "several" and "steps" in made_up.shows
    assert len(found["ehragent_errors"].fields["cause"].categories) == 6
    assert [list(field.categories) for field in found["radabench_verification"].fields.values()] == [["yes", "no"]] * 5


def test_a_rubric_may_be_a_path(tmp_path):
    (tmp_path / "own.yaml").write_text(RUBRIC)
    assert load(CONF / "rubrics", str(tmp_path / "own.yaml")).draw.n == 3


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ((": us", ": [us]"), r"own.yaml: source: found \['us'\], should be text"),
        (("pick: several", "pick: some"), "own.yaml: fields.also.pick: found 'some'"),
        (("{facts: A fact is wrong., logic: A step is wrong.}", "{facts: Yes.}"), "own.yaml: fields.cause.categories"),
        (("draw:", "drew:"), "own.yaml: drew: no such key; did you mean draw"),
        ((RUBRIC, "- a list"), "own.yaml: a rubric is a mapping, found list"),
        ((RUBRIC, "a: [b"), "own.yaml: while parsing"),
    ],
)
def test_rubric_error_is_reported_with_its_location(tmp_path, change, wrong):
    (tmp_path / "own.yaml").write_text(RUBRIC.replace(*change))
    with pytest.raises(ConfigError, match=wrong):
        load(CONF / "rubrics", str(tmp_path / "own.yaml"))


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(ConfigError, match="no rubric 'medagent_errors'; did you mean medagents_errors"):
        load(CONF / "rubrics", "medagent_errors")
