from components.cab.datasets.images import VqaRad
from tests.components.cab_files import DATA, needs, png, refused, write

ROW = {
    "qid": 13, "phrase_type": "test_freeform", "image_name": "a.png", "image_organ": "HEAD", "question": "Is it axial? ",
    "answer": "yes", "answer_type": "CLOSED ",
}  # fmt: skip
TRAIN = {**ROW, "qid": 14, "phrase_type": "para", "answer": 3}


def vqa(folder, rows=(ROW, TRAIN)):
    write(folder / "VQA_RAD Dataset Public.json", list(rows))
    png(folder / "VQA_RAD Image Folder" / "a.png")
    return VqaRad(str(folder))


def test_question_comes_with_its_image(tmp_path):
    (sample,) = vqa(tmp_path).load("test")
    assert (sample.problem.id, sample.problem.question) == ("vqa_rad-test-13", "Is it axial?")
    assert sample.problem.inputs == {"image": "a.png"} and sample.target == {"answer": "yes"}
    assert sample.problem.image("a.png").url.startswith("data:image/png;base64,")
    assert sample.strata == {"task": "vqarad", "dimension": "multimodal", "organ": "head", "answer_type": "closed"}
    assert (sample.cluster, sample.metadata) == ("a.png", {"task": "vqarad"})
    (other,) = vqa(tmp_path).load("train")
    assert (other.problem.id, other.target) == ("vqa_rad-train-14", {"answer": "3"})


def test_a_file_that_is_not_an_image_is_refused(tmp_path):
    dataset = vqa(tmp_path)
    (tmp_path / "VQA_RAD Image Folder" / "a.png").write_bytes(b"html")
    assert "a.png: not an image" in refused(dataset)


def test_fingerprint_follows_the_images(tmp_path):
    first = vqa(tmp_path).fingerprint
    assert vqa(tmp_path).fingerprint == first
    png(tmp_path / "VQA_RAD Image Folder" / "a.png", shade=7)
    assert VqaRad(str(tmp_path)).fingerprint != first


@needs("vqa_rad")
def test_every_row_of_the_data_is_read():
    dataset = VqaRad(str(DATA / "vqa_rad"))
    samples = list(dataset.load("test"))
    assert len(samples) in (200, 451) and all(len(s.problem.images) == 1 for s in samples)
    assert len({s.problem.id for s in samples}) == len(samples) and len(list(dataset.load("train"))) >= 50
    assert {s.strata["answer_type"] for s in samples} == {"closed", "open"}
    assert (samples[0].problem.question, samples[0].target) == ("Is this an axial plane?", {"answer": "yes"})
