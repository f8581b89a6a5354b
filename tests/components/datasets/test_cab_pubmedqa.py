from components.datasets.pubmedqa import CabPubMedQA, PubMedQA
from tests.components.cab_files import DATA, needs, write

ROWS = {
    "101": {
        "QUESTION": "Does it help?",
        "CONTEXTS": ["Nine got well."],
        "YEAR": "2011",
        "final_decision": "yes",
        "LONG_ANSWER": "It does.",
    },
    "102": {"QUESTION": "Does it last?", "CONTEXTS": ["Some relapsed."], "final_decision": "maybe"},
}


def closed(folder, rows=ROWS):
    write(folder / "data" / "ori_pqal.json", rows)
    write(folder / "data" / "test_ground_truth.json", {"101": "yes"})
    return CabPubMedQA(str(folder))


def test_question_comes_alone_with_three_options(tmp_path):
    (sample,) = closed(tmp_path).load("test")
    assert (sample.problem.id, sample.problem.question, sample.problem.context) == (
        "cab_pubmedqa-101",
        "Does it help?",
        "",
    )
    assert (sample.problem.choices, sample.target) == ({"A": "yes", "B": "no", "C": "maybe"}, "A")
    assert sample.metadata == {"task": "pubmedqa"}
    assert sample.strata == {"task": "pubmedqa", "dimension": "knowledge", "decade": "2010s"}
    assert [s.target for s in closed(tmp_path).load("train")] == ["C"]


def test_fingerprint_is_not_that_of_the_open_book(tmp_path):
    assert closed(tmp_path).fingerprint != PubMedQA(str(tmp_path)).fingerprint


@needs("pubmedqa")
def test_every_row_of_the_data_is_read():
    dataset = CabPubMedQA(str(DATA / "pubmedqa"))
    samples = list(dataset.load("test"))
    assert len(samples) in (300, 500) and {s.target for s in samples} == {"A", "B", "C"}
    assert not any(s.problem.context for s in samples)
