import pytest

from components.core.errors import ToolError
from components.core.tools import NoState
from components.files.attachments import SampleFiles
from components.tools.sql_coder import input_path, open_database
from tests.components.tools.ward import Speaking, ward


def test_a_database_is_found_by_its_name(tmp_path):
    context = Speaking(SampleFiles({"mimic_iv": ward(tmp_path)}))
    assert open_database(context, "mimic_iv").id == "mimic_iv"


def test_names_that_are_not_a_database_are_not_found(tmp_path):
    context = Speaking(SampleFiles({"empty": tmp_path, "lost": tmp_path / "lost"}))
    for name, says in (("other", "no input 'other'"), ("lost", "file is missing"), ("empty", "holds no database")):
        with pytest.raises(ToolError, match=says) as caught:
            open_database(context, name)
        assert caught.value.label == "not_found" and str(tmp_path) not in str(caught.value)


def test_tools_with_files_need_a_state_with_files():
    with pytest.raises(TypeError, match="found NoState"):
        input_path(Speaking(NoState()), "x")
