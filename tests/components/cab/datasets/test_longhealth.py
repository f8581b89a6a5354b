import pytest

from components.cab.datasets.longhealth import cases_of, document_folder, longhealth_file, mixed
from components.core.errors import ConfigError
from tests.components.cab_files import write

QUESTION = {
    "No": 0, "question": "Which drug came first?", "correct": "Rituximab ", "answer_a": "Aspirin", "answer_b": "Rituximab",
    "answer_c": "Zinc", "answer_d": "Iron", "answer_e": "None", "answer_location": {"text_1": {"start": [0.1]}},
}  # fmt: skip


def patient(name, letters=4, length=100, **changes):
    texts = {f"text_{n}": f"{name} letter {n} ".ljust(length, ".") for n in range(letters)}
    return {
        "name": name, "birthday": "01.01.1970", "texts": texts, "questions": [QUESTION, {**QUESTION, "No": 1}], **changes,
    }  # fmt: skip


def written(folder, patients=None):
    patients = patients or {f"patient_{n:02}": patient(f"P{n}") for n in range(1, 7)}
    write(folder / "data" / "benchmark_v5.json", patients)
    return longhealth_file(str(folder))


def test_cases_have_documents_and_lettered_questions(tmp_path):
    case = cases_of(written(tmp_path))[1]
    assert (case.id, case.about, list(case.texts)) == (
        "patient_02",
        "Patient: P2, born 01.01.1970",
        ["text_0", "text_1", "text_2", "text_3"],
    )
    first, second = case.questions
    assert (first.text, first.letter, first.sources, second.number) == ("Which drug came first?", "B", ("text_1",), 1)


def test_documents_are_mixed_up_to_the_size_by_the_seed(tmp_path):
    cases = cases_of(written(tmp_path))
    own = list(cases[0].texts.values())
    texts = mixed(cases[0], cases, True, 250, "0")  # 250 tokens are 1,000 characters, ten letters
    assert len(texts) == 10 and set(own) < set(texts) and texts[:4] != own
    assert texts == mixed(cases[0], cases, True, 250, "0") != mixed(cases[0], cases, True, 250, "1")
    others = mixed(cases[0], cases, False, 250, "0")
    assert len(others) == 10 and not set(own) & set(others)
    assert sorted(mixed(cases[0], cases, True, 0, "0")) == sorted(own)
    with pytest.raises(ConfigError, match=r"dataset\.min_tokens: all documents for patient_01 together are fewer"):
        mixed(cases[0], cases, True, 1000, "0")


def test_documents_are_written_as_numbered_files(tmp_path):
    folder = document_folder(str(tmp_path / "cache"), ["one", "zwei ß"])
    assert {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()} == {
        "document_01.txt": "one",
        "document_02.txt": "zwei ß",
    }


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"texts": {}}, "texts: must not be empty"),
        ({"texts": ["a"]}, "texts: must be an object of texts"),
        ({"birthday": None}, "birthday: must be a text"),
        ({"questions": {}}, "questions: must be a JSON array"),
        ({"questions": [{**QUESTION, "correct": "Gold"}]}, "questions: record 1: correct: must be the text of one of"),
        ({"questions": [{**QUESTION, "answer_e": ""}]}, "questions: record 1: answer_e: must be a text"),
        ({"questions": [{**QUESTION, "answer_location": {"text_9": {}}}]}, "answer_location: its keys must be names of texts"),
    ],
)  # fmt: skip
def test_wrong_record_is_refused_with_its_place(tmp_path, changes, told):
    file = written(tmp_path, {"patient_01": patient("A"), "patient_02": patient("B", **changes)})
    with pytest.raises(ConfigError) as caught:
        cases_of(file)
    assert "benchmark_v5.json:" in str(caught.value) and told in str(caught.value)


def test_missing_file_or_single_patient_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"benchmark_v5\.json; take data/benchmark_v5\.json from .*LongHealth"):
        longhealth_file(str(tmp_path))
    with pytest.raises(ConfigError, match="at least two patients are needed"):
        cases_of(written(tmp_path, {"patient_01": patient("A")}))
