import pytest

from components.conditions.offered import Withhold
from components.conditions.wrong_results import Noisy
from components.core.errors import ConfigError
from components.core.plain import Accept
from components.core.types import Problem, Sample
from components.ehr.actions import LoadDB, PythonCell
from components.ehr.agent import EhrAgent
from components.ehr.toolset import Ehr
from components.grammars.code_block import CodeBlock
from runner.config.errors import ConfigErrors
from runner.episode.shared import Parts
from runner.experiment.parts import check_fit
from tests.table import each_row
from tests.wards import database, memory, sample, sandbox, toolset


async def test_a_sample_opens_the_tools_over_its_database():
    offer = toolset([LoadDB()]).open(sample())
    assert list(offer.tools) == ["LoadDB"] and not offer.may_refuse and offer.facts["toolset"] == ["LoadDB"]
    assert offer.state.metadata.database == "mimic_iii" and offer.state.file == database().resolve()
    assert offer.state.tables is toolset([LoadDB()]).open(sample()).state.tables
    offer.state.close()


async def test_the_control_describes_the_contents_of_the_database():
    (control,) = toolset(groups=False).open(sample()).controls.values()
    observation = await control(None)
    assert observation.text == observation.data["overview"] and "admissions: ROW_ID" in observation.data["columns"]
    assert observation.data["clock"] == "2105-12-31 23:59:00" and observation.data["groups"] is False


def test_questions_that_may_be_abstained_from_may_be_refused():
    assert toolset().open(sample(may_abstain=True)).refusal_fields == {"reason": ()}


@each_row(
    "metadata, files, words",
    [
        ({}, {}, "sample 'x' has no database of health records; choose a dataset that has"),
        ({"sql_dialect": "mimic_iii"}, {}, "has no database of health records"),
        ({"sql_dialect": "oracle"}, {"database": "x"}, "oracle"),
    ],
)
def test_a_sample_without_a_known_database_is_refused(metadata, files, words):
    with pytest.raises(ConfigError, match=words):
        toolset().open(Sample(Problem("x", "?"), None, metadata, files=files))


def test_tools_stand_under_their_names():
    with pytest.raises(ConfigError, match="tools: python is the tool LoadDB"):
        Ehr({"python": LoadDB()}, sandbox())


async def test_code_runs_over_the_database_with_and_without_counting_groups():
    for groups, words in ((True, None), (False, "bad_condition")):
        state = toolset([PythonCell()], groups=groups).open(sample()).state
        ran = await state.run("answer = len(FilterDB(LoadDB('admissions'), 'count(SUBJECT_ID)>=2'))")
        state.close()
        assert ran.answer == "2" if words is None else ran.error.kind == words


def test_functions_cannot_be_withheld_from_code():
    parts = Parts(EhrAgent(), Accept(), CodeBlock(), toolset([LoadDB()]), Withhold(["LoadDB"]), memory=memory())
    with pytest.raises(
        ConfigErrors, match="EhrAgent writes code, which can call every function, so withholding LoadDB"
    ):
        check_fit(parts, sample(), 0, acts=True)


def test_functions_of_code_cannot_be_made_to_fail():
    parts = Parts(EhrAgent(), Accept(), CodeBlock(), toolset([LoadDB()]), Noisy(), memory=memory())
    with pytest.raises(
        ConfigErrors, match=r"EhrAgent writes code, whose functions run in the sandbox, where the fault \(noisy\)"
    ):
        check_fit(parts, sample(), 0, acts=True)


def test_the_lifetime_of_variables_is_stated():
    assert toolset().traits.notes == () and "as long as the question" in toolset(state="episode").traits.notes[0]


def test_the_tables_of_all_databases_are_written_before_the_first_question(tmp_path):
    opened = Ehr({}, sandbox(), str(tmp_path / "columns"))
    opened.traits.prepare([sample(), sample()])
    assert len(list((tmp_path / "columns").iterdir())) == 1
