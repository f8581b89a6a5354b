import pytest

from components.core.errors import ConfigError
from components.files.sample_files import SampleFiles
from components.files.task_samples import asked, attached, cab_sample, check_split
from tests.components.cab_files import database, png, write


def test_files_get_short_names_and_paths_stay_hidden(tmp_path):
    images = [png(tmp_path / "x" / "scan.png", 1), png(tmp_path / "y" / "scan.png", 2)]
    sqlite = database(tmp_path / "mimic_iv.sqlite")
    notes = write(tmp_path / "notes" / "a.txt", "x").parent
    files = attached(images, sqlite, notes)
    sample = cab_sample("vqarad", "v-1", "Which?", {"answer": "left"}, files=files)
    problem = sample.problem
    assert dict(problem.inputs) == {
        "image": "scan.png", "image_2": "2_scan.png", "sql_database": "mimic_iv", "upload_files": "notes",
    }  # fmt: skip
    assert problem.image("2_scan.png") == problem.images[1] != problem.image("scan.png")
    state = SampleFiles({name: type(sqlite)(path) for name, path in sample.files.items()})
    assert state.path("mimic_iv") == sqlite and state.path("2_scan.png") == images[1]
    assert str(tmp_path) not in f"{problem.question}{dict(problem.inputs)}"
    assert attached(documents=notes, folder="patient_01").inputs == {"upload_files": "patient_01"}


def test_sample_names_task_and_dimension():
    sample = cab_sample("medcalc", "m-1", "How much?", {}, strata={"category": "lab"}, cluster="p")
    assert sample.metadata == {"task": "medcalc"} and sample.cluster == "p"
    assert sample.strata == {"task": "medcalc", "dimension": "numerical", "category": "lab"}


def test_question_gets_its_rider_and_split_is_checked():
    assert (asked("Who?", "Be brief."), asked("Who?", "")) == ("Who?\nBe brief.", "Who?")
    check_split("X", "test", ("test",))
    with pytest.raises(ConfigError, match=r"dataset\.split: X has test, train; found 'dev'"):
        check_split("X", "dev", ("test", "train"))
