from components.cab.datasets.extraction import EmrQa
from tests.components.cab_files import refused, write

QA = {"id": ["1", "2"], "question": ["What dose?", "How much?"], "answers": [{"text": " 10 mg ", "evidence": "x"}, {"text": "daily"}]}  # fmt: skip
BLANK = {"question": ["Why?"], "answers": [{"text": ""}]}


def note(name, qas=(QA, BLANK)):
    return {"note_id": name, "context": ["He takes\n", "10 mg daily."], "qas": list(qas)}


def emrqa(folder, notes=None, **arguments):
    entries = [{"title": "medication", "paragraphs": notes or [note(f"n{n}") for n in range(10)]},
               {"title": "relation", "paragraphs": [note("n0"), note("n99")]}]  # fmt: skip
    write(folder / "data.json", {"data": entries})
    return EmrQa(str(folder), **arguments)


def test_note_is_the_context_and_the_first_extract_the_answer(tmp_path):
    dataset = emrqa(tmp_path)
    samples = {s.problem.id: s for split in dataset.splits for s in dataset.load(split)}
    sample = samples["emrqa-medication-n3-1"]
    assert (sample.problem.question, sample.problem.context) == ("What dose?", "He takes\n10 mg daily.")
    assert (sample.target, sample.metadata["extracts"]) == ({"answer": "10 mg"}, ["10 mg", "daily"])
    assert (sample.cluster, sample.strata["source"], dataset.privacy) == ("n3", "medication", "credentialed")
    assert len(samples) == 12, "a question without an extract is left out"


def test_no_note_is_in_both_splits_and_draws_are_seeded(tmp_path):
    dataset = emrqa(tmp_path)
    notes = {split: {s.cluster for s in dataset.load(split)} for split in dataset.splits}
    assert len(notes["train"]) == 2 and not notes["train"] & notes["test"]
    few = [s.problem.id for s in emrqa(tmp_path, questions=4).load("test")]
    assert len(few) == 4 and few == [s.problem.id for s in emrqa(tmp_path, questions=4).load("test")]
    assert few != [s.problem.id for s in emrqa(tmp_path, questions=4, seed=1).load("test")]
    assert {s.strata["source"] for s in emrqa(tmp_path, titles=("relation",), seed=1).load("test")} <= {"relation"}


def test_texts_may_stand_in_place_of_lists(tmp_path):
    plain = {"question": "What dose?", "answers": [{"text": "10 mg"}]}
    notes = [{"note_id": "a", "context": "He takes 10 mg.", "qas": [plain]}]
    sample = next(emrqa(tmp_path, notes, titles=("medication",)).load("test"))
    assert (sample.problem.question, sample.problem.context) == ("What dose?", "He takes 10 mg.")


def test_missing_file_split_or_title_is_named(tmp_path):
    assert "data.json; sign the n2c2 data use agreement" in refused(EmrQa(str(tmp_path)))
    assert "emrQA has test, train; found 'dev'" in refused(emrqa(tmp_path), "dev")
    assert "has medication, relation; found smoking" in refused(emrqa(tmp_path, titles=("smoking",)))


def test_fingerprint_follows_file_and_draw(tmp_path):
    prints = {emrqa(tmp_path).fingerprint, emrqa(tmp_path, seed=1).fingerprint, emrqa(tmp_path, titles=("relation",)).fingerprint}  # fmt: skip
    assert len(prints) == 3 and emrqa(tmp_path).fingerprint in prints
