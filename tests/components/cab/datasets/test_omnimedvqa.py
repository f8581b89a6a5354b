from collections import Counter

from components.cab.datasets.images import OmniMedVqa
from tests.components.cab_files import png, without, write

ROW = {
    "dataset": "ACRIMA", "question_id": "ACRIMA_0000", "question_type": "Disease Diagnosis", "question": "Which disease?",
    "gt_answer": "Glaucoma", "image_path": "Images/ACRIMA/a.png", "option_A": "Cataract", "option_B": "Glaucoma",
    "option_C": "None", "modality_type": "Fundus Photography",
}  # fmt: skip


def rows(name, count):
    return [{**ROW, "dataset": name, "question_id": f"{name}_{n}"} for n in range(count)]


def omni(folder, files=None, **arguments):
    for name, content in (files or {"ACRIMA": [ROW]}).items():
        write(folder / "OmniMedVQA" / "QA_information" / "Open-access" / f"{name}.json", content)
    png(folder / "OmniMedVQA" / "Images" / "ACRIMA" / "a.png")
    return OmniMedVqa(str(folder), **arguments)


def test_question_comes_with_image_and_as_many_options_as_it_has(tmp_path):
    (sample,) = omni(tmp_path).load("test")
    assert (sample.problem.id, sample.target) == ("omnimedvqa-ACRIMA-ACRIMA_0000", "B")
    assert sample.problem.choices == {"A": "Cataract", "B": "Glaucoma", "C": "None"}
    assert sample.problem.inputs == {"image": "a.png"} and len(sample.problem.images) == 1
    assert sample.strata == {
        "task": "omnimedqa", "dimension": "multimodal", "modality": "Fundus Photography",
        "question_type": "Disease Diagnosis", "source": "ACRIMA",
    }  # fmt: skip
    assert sample.cluster == "Images/ACRIMA/a.png"
    old = {**without(ROW, "modality_type", "option_C"), "modality": "CT", "option_D": None}
    (sample,) = omni(tmp_path, {"ACRIMA": [old]}).load("test")
    assert (sample.strata["modality"], len(sample.problem.choices)) == ("CT", 2)


def test_draw_keeps_the_proportions_and_leaves_others_to_learn_from(tmp_path):
    files = {"ACRIMA": rows("ACRIMA", 30), "OCT": rows("OCT", 10)}
    dataset = omni(tmp_path, files, images=8)
    drawn = {split: list(dataset.load(split)) for split in dataset.splits}
    for samples in drawn.values():
        assert Counter(s.strata["source"] for s in samples) == {"ACRIMA": 6, "OCT": 2}
    assert not {s.problem.id for s in drawn["test"]} & {s.problem.id for s in drawn["train"]}
    assert [s.problem.id for s in dataset.load("test")] == [s.problem.id for s in drawn["test"]]
    other = omni(tmp_path, files, images=8, seed=1)
    assert other.fingerprint != dataset.fingerprint
    assert [s.problem.id for s in other.load("test")] != [s.problem.id for s in drawn["test"]]
    everything = omni(tmp_path, files, images=None)
    assert everything.splits == ("test",) and len(list(everything.load("test"))) == 40
