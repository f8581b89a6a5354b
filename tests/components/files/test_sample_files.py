import pytest

from components.core.errors import ToolError
from components.files.sample_files import SampleFiles


def test_inputs_are_reached_by_name_only(tmp_path):
    (tmp_path / "notes").mkdir()
    files = SampleFiles({"notes": tmp_path / "notes", "lost": tmp_path / "lost"})
    assert files.path("notes") == tmp_path / "notes" and files.fork() is files
    for name in ("../etc/passwd", str(tmp_path / "notes"), "lost", ""):
        with pytest.raises(ToolError) as caught:
            files.path(name)
        assert caught.value.label == "not_found" and (name == "lost" or "'notes', 'lost'" in str(caught.value))
        assert not name.startswith("lost") or str(tmp_path) not in str(caught.value)
    files.close()
