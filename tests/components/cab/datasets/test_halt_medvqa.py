from components.cab.datasets.choices import HaltMedVqa
from tests.components.cab_files import png, refused, write

FAKE = {"question": "Which star?", "option": {"A": "Sirius", "B": "I do not know"}, "answer": "I do not know", "answer_id": "B", "img": "a.png"}  # fmt: skip
NOTA = {"question": "Which organ?", "img": "a.png", "choice_A": " A: Lung ", "choice_B": " B: Liver",
        "choice_C": "C:None of the above", "choice_D": "D: Heart", "answer": "C"}  # fmt: skip


def halt(folder, fake=(FAKE,), nota=(NOTA,), **arguments):
    for name in ("fake_qa_shuffle", "swap_img_shuffle"):
        write(folder / "data" / f"{name}.json", {str(n): row for n, row in enumerate(fake)})
    write(folder / "data" / "pmc_vqa_nota1K.json", list(nota))
    png(folder / "images" / "a.png")
    images = dict.fromkeys(("fake", "nota", "swap"), str(folder / "images"))
    return HaltMedVqa(str(folder), **{"images": images, **arguments})


def test_all_parts_become_choices_with_an_image(tmp_path):
    fake, nota, swap = halt(tmp_path).load("test")
    assert (fake.problem.id, fake.target) == ("halt_medvqa-fake-0", "B")
    assert fake.problem.choices == {"A": "Sirius", "B": "I do not know"}
    assert nota.problem.choices == {"A": "Lung", "B": "Liver", "C": "None of the above", "D": "Heart"}
    assert (nota.target, swap.problem.id) == ("C", "halt_medvqa-swap-0")
    assert nota.problem.inputs == {"image": "a.png"} and len(nota.problem.images) == 1
    assert nota.strata == {"task": "medvqa_halt", "dimension": "trust", "part": "nota"}
    assert nota.cluster == "nota/a.png"


def test_draw_leaves_others_to_learn_from(tmp_path):
    dataset = halt(tmp_path, nota=[NOTA] * 10, parts=("nota",), per_part=3)
    ids = {split: {s.problem.id for s in dataset.load(split)} for split in dataset.splits}
    assert len(ids["test"]) == len(ids["train"]) == 3 and not ids["test"] & ids["train"]
    everything = halt(tmp_path, nota=[NOTA] * 10, parts=("nota",), per_part=None)
    assert everything.splits == ("test",) and len(list(everything.load("test"))) == 10
    assert everything.fingerprint != dataset.fingerprint


def test_missing_files_images_or_splits_are_named(tmp_path):
    assert "fake_qa_shuffle.json; take data/*.json" in refused(HaltMedVqa(str(tmp_path)))
    assert "dataset.images.fake: no folder of images, found None; get the images" in refused(halt(tmp_path, images={}))
    assert "HALT-MedVQA has test, train; found 'dev'" in refused(halt(tmp_path), "dev")


def test_answers_that_do_not_fit_the_options_are_refused(tmp_path):
    assert "is not option B: 'I do not know'" in refused(halt(tmp_path, fake=[{**FAKE, "answer": "Sirius"}]))
    assert "must be one of A, B, found 'C'" in refused(halt(tmp_path, fake=[{**FAKE, "answer_id": "C"}]))
