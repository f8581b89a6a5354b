import pytest

from components.cab.datasets.cab import record_sample
from components.core.errors import ConfigError
from components.files.rows import Row
from tests.components.cab_files import database, png, without, write
from tests.table import each_row

CHOICE = {
    "id": 7, "inputs": None, "instruction": "A man of 40.\nWhich vitamin?\nA. B12\nB. C\nC. D",
    "eval": {"answer": "C", "answer_idx": "B"},
}  # fmt: skip
MEDCALC = {"answer": "21.5", "Output Type": "decimal", "Low Limit": "20.4", "Upper Limit": "22.6"}


def read(record, task, root=None, **changes):
    return record_sample(Row("t.json: record 1", {**record, **changes}), task, "test", root)


def refusal_message(record, task, root=None, **changes):
    with pytest.raises(ConfigError) as caught:
        read(record, task, root, **changes)
    return str(caught.value)


def test_options_are_taken_off_the_instruction():
    sample = read(CHOICE, "medqa", inputs="An abstract.")
    assert (sample.problem.id, sample.problem.question) == ("medqa-test-7", "A man of 40.\nWhich vitamin?")
    assert (sample.problem.choices, sample.target) == ({"A": "B12", "B": "C", "C": "D"}, "B")
    assert sample.problem.context == "An abstract."
    assert sample.metadata == {"task": "medqa", "record": 7}
    assert sample.strata == {"task": "medqa", "dimension": "knowledge"}


def test_letter_may_follow_from_the_text_and_instruction_may_be_empty():
    assert read(CHOICE, "mmlu", eval={"answer": "b12."}).target == "A"
    sample = read(CHOICE, "mmlu", instruction=None, inputs=CHOICE["instruction"])
    assert (sample.problem.question, sample.problem.context) == ("A man of 40.\nWhich vitamin?", "")


def test_options_that_cannot_be_read_leave_the_question_whole():
    sample = read(CHOICE, "medqa", instruction="Which? (A) B12 (B) C")
    assert (sample.problem.question, sample.problem.choices) == ("Which? (A) B12 (B) C", {})
    assert sample.target == {"answer": "C", "answer_idx": "B"}


def test_accepted_refusals_are_a_list():
    sample = read(CHOICE, "medhalt_rht", eval={"answer": ["I do not know", "fiction"]})
    assert sample.target == {"accepted": ["I do not know", "fiction"]} and len(sample.problem.choices) == 3


@each_row(
    "task, gold",
    [
        ("vqarad", {"answer": "left"}),
        ("medcalc", MEDCALC),
        ("ehrsql", {"answer": "[['13']]"}),
        ("mimic_iii", {"answer": ["iv", "po"]}),
        ("eicu", {"answer": []}),
        ("ehr_halt", {}),
        ("emrqa", {"answer": "10 mg daily"}),
        ("medmentions", {"answer": [{"entity_name": "cystic fibrosis"}]}),
    ],
)
def test_other_forms_keep_the_eval_block(task, gold):
    sample = read(CHOICE, task, eval=gold)
    assert (sample.target, sample.problem.choices, sample.metadata["task"]) == (gold, {}, task)
    assert sample.problem.question == CHOICE["instruction"]


def test_record_of_a_mixed_file_has_its_own_task():
    sample = read(CHOICE, "medqa", dataset="emrqa", eval={"answer": "x"})
    assert (sample.metadata["task"], sample.problem.id) == ("emrqa", "emrqa-test-7")


def test_files_are_attached_by_short_names(tmp_path):
    png(tmp_path / "images" / "x" / "source.png")
    database(tmp_path / "databases" / "mimic_iii" / "m.sqlite")
    write(tmp_path / "documents" / "p1" / "a.txt", "x")
    sample = read(CHOICE, "vqarad", tmp_path, eval={"answer": "left"}, images="images/x/source.png")
    assert sample.problem.inputs == {"image": "source.png"} and len(sample.problem.images) == 1
    assert sample.cluster == "images/x/source.png"
    gold = {"answer": ["iv"], "sql": "select 1"}
    sample = read(CHOICE, "mimic_iii", tmp_path, eval=gold, sql_database="databases/mimic_iii")
    assert sample.files == {"mimic_iii": str(tmp_path / "databases" / "mimic_iii")}
    assert (sample.target, sample.metadata["sql"], sample.metadata["sql_dialect"]) == (
        {"answer": ["iv"]},
        "select 1",
        "mimic_iii",
    )
    assert (sample.strata["database"], sample.cluster) == ("mimic_iii", None)
    record = {**CHOICE, "upload_files": ["documents/p1"], "images": ["images/x/source.png"]}
    sample = read(record, "longhalt", tmp_path)
    assert sample.problem.inputs == {"image": "source.png", "upload_files": "p1"}
    assert set(sample.files.values()) == {str(tmp_path / "images/x/source.png"), str(tmp_path / "documents/p1")}


def test_database_of_another_name_has_its_task_s_dialect_or_none(tmp_path):
    database(tmp_path / "demo.sqlite")
    sample = read(CHOICE, "ehrsql", tmp_path, eval={"answer": "x"}, sql_database="demo.sqlite")
    assert sample.metadata["sql_dialect"] == "mimic_iv"
    complaint = refusal_message(CHOICE, "ehr_halt", tmp_path, eval={}, sql_database="demo.sqlite")
    assert "sql_database: the base name must be one of mimic_iv, mimic_iii, eicu, found 'demo'" in complaint


@each_row(
    "task, changes, complaint",
    [
        ("medqa", {"id": None}, "id: must be a number or a text, found None"),
        ("medqa", {"id": True}, "id: must be a number"),
        ("medqa", {"instruction": 3}, "instruction: must be a text or null, found 3"),
        ("medqa", {"instruction": " "}, "instruction: instruction and inputs are both empty"),
        ("medqa", {"eval": None}, "eval: must be an object, found None"),
        ("medqa", {"eval": {}}, "eval: answer must be an option's text, found None"),
        ("medqa", {"eval": {"answer": "C", "answer_idx": 1}}, "eval: answer_idx must be a letter, found 1"),
        ("medqa", {"eval": {"answer": "C", "answer_idx": "E"}}, "answer_idx must be one of A, B, C, found 'E'"),
        ("medqa", {"eval": {"answer": "zinc"}}, "answer_idx must be one of A, B, C, found None"),
        ("medqa", {"eval": {"answer": "B12", "answer_idx": "B"}}, "answer 'B12' is not option B: 'C'"),
        (
            "medqa",
            {"instruction": "Which?", "eval": {"answer": "C"}},
            "answer_idx is missing, and the instruction does",
        ),
        ("medqa", {"dataset": "medmcqa"}, "dataset: must be one of medqa, mmlu"),
        ("medhalt_rht", {"eval": {"answer": []}}, "answer must be a list of texts, found []"),
        ("medcalc", {"eval": {"answer": "1"}}, "Output Type, Low Limit, Upper Limit missing; it has answer"),
        ("medcalc", {"eval": {**MEDCALC, "Output Type": "text"}}, "must be decimal, integer or date, found 'text'"),
        ("medcalc", {"eval": {**MEDCALC, "Low Limit": "x"}}, "must be numbers, the lower first, found 'x' and '22.6'"),
        ("vqarad", {"eval": {"answer": ""}}, "answer must be a text, found ''"),
        ("ehrsql", {"eval": {"answer": [["1"]]}}, "answer must be a text, found [['1']]"),
        ("eicu", {"eval": {"answer": "1"}}, "answer must be a list of texts, found '1'"),
        ("eicu", {"eval": {"answer": [["1"]]}}, "answer must be a list of texts, found [['1']]"),
        ("medmentions", {"eval": {"answer": ["x"]}}, "must be a list of objects with entity_name"),
        ("vqarad", {"images": [1]}, "images: must be a path or a list of paths, found [1]"),
        ("longhalt", {"upload_files": ["a", "b"]}, "upload_files: must be one path, found 2"),
        ("vqarad", {"images": "../a.png"}, "images: must be a relative path below"),
        ("vqarad", {"images": "a.png"}, "images: there is no"),
    ],
)
def test_malformed_record_is_refused(tmp_path, task, changes, complaint):
    assert refusal_message(CHOICE, task, tmp_path, **changes).startswith("t.json: record 1: ")
    assert complaint in refusal_message(CHOICE, task, tmp_path, **changes)


def test_missing_keys_are_as_null():
    assert read(without(CHOICE, "inputs"), "medqa").target == "B"
