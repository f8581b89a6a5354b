from components.cab.datasets.choices import BioAsq
from tests.components.cab_files import DATA, needs, write

YES = {"id": "a1", "type": "yesno", "body": "Is it a gene?", "exact_answer": "yes", "ideal_answer": ["It is."]}
NO = {**YES, "id": "a2", "body": "Is it rare? ", "exact_answer": "No"}
LIST = {"id": "a3", "type": "list", "body": "Which?", "exact_answer": [["x"]]}


def bioasq(folder, questions=(YES, LIST, NO), task=8, **arguments):
    for batch, question in enumerate(questions, 1):
        write(folder / f"Task{task}BGoldenEnriched" / f"{task}B{batch}_golden.json", {"questions": [question]})
    return BioAsq(str(folder), **arguments)


def test_yes_no_questions_become_choices_without_documents(tmp_path):
    first, second = bioasq(tmp_path).load("test")
    assert (first.problem.id, first.problem.question, first.target) == ("bioasq-a1", "Is it a gene?", "A")
    assert (first.problem.choices, first.problem.context) == ({"A": "yes", "B": "no"}, "")
    assert (second.target, second.problem.question) == ("B", "Is it rare?")
    assert first.strata == {"task": "bioasq", "dimension": "knowledge", "year": "task 8B"}


def test_decisions_have_no_options(tmp_path):
    sample = next(bioasq(tmp_path, form="decision").load("test"))
    assert (sample.problem.question, sample.problem.choices) == ("Is it a gene?\nAnswer with yes or no.", {})
    assert (sample.target, sample.metadata["decisions"]) == ("yes", ("yes", "no"))


def test_earlier_tasks_are_to_learn_from_and_batches_come_by_number(tmp_path):
    bioasq(tmp_path, [{**YES, "id": f"t{n}"} for n in range(11)], task=10)
    dataset = bioasq(tmp_path, [YES], task=6)
    assert dataset.splits == ("test", "train") and [s.problem.id for s in dataset.load("train")] == ["bioasq-a1"]
    assert [s.problem.id for s in dataset.load("test")] == [f"bioasq-t{n}" for n in range(11)]


def test_fingerprint_names_the_form(tmp_path):
    assert bioasq(tmp_path).fingerprint != bioasq(tmp_path, form="decision").fingerprint
    assert bioasq(tmp_path).fingerprint == bioasq(tmp_path).fingerprint


@needs("bioasq")
def test_every_question_of_the_data_is_read():
    samples = list(BioAsq(str(DATA / "bioasq")).load("test"))
    assert len(samples) in (300, 618) and {s.target for s in samples} == {"A", "B"}
    assert len({s.problem.id for s in samples}) == len(samples)
    found = next(s for s in samples if s.problem.id == "bioasq-6402c910201352f04a00000c")
    assert (found.problem.question, found.target) == ("Can losartan reduce brain atrophy in Alzheimer's disease?", "B")
