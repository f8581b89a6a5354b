from components.cab.datasets.images import Slake
from tests.components.cab_files import DATA, needs, png, refused, write

ROW = {
    "img_name": "xmlab1/source.jpg", "question": "Which organ?", "answer": "Lung", "q_lang": "en", "modality": "CT",
    "answer_type": "OPEN", "content_type": "Organ", "qid": 7,
}  # fmt: skip
ZH = {**ROW, "q_lang": "zh", "qid": 8, "question": "哪个器官?"}


def slake(folder, rows=(ROW, ZH), split="test", **arguments):
    write(folder / "Slake1.0" / f"{split}.json", list(rows))
    png(folder / "Slake1.0" / "imgs" / "xmlab1" / "source.jpg")
    return Slake(str(folder), **arguments)


def test_question_comes_with_its_image_in_one_language(tmp_path):
    (sample,) = slake(tmp_path).load("test")
    assert (sample.problem.id, sample.problem.question) == ("slake-test-7", "Which organ?")
    assert (sample.problem.inputs, sample.target) == ({"image": "source.jpg"}, {"answer": "Lung"})
    assert sample.strata == {
        "task": "slake", "dimension": "multimodal", "modality": "CT", "answer_type": "open", "content": "Organ",
    }  # fmt: skip
    assert sample.cluster == "xmlab1/source.jpg"
    assert [s.problem.question for s in slake(tmp_path, language="zh").load("test")] == ["哪个器官?"]


def test_missing_images_are_said_with_how_to_get_them(tmp_path):
    write(tmp_path / "Slake1.0" / "test.json", [ROW])
    complaint = refused(Slake(str(tmp_path)))
    assert "no images: there is no folder" in complaint and "BoKelvin/SLAKE" in complaint


def test_splits_files_and_fingerprint(tmp_path):
    dataset = slake(tmp_path, split="validate")
    assert dataset.splits == ("validate",) and "test.json; take Slake1.0" in refused(dataset)
    assert "SLAKE has test, validate, train; found 'dev'" in refused(dataset, "dev")
    prints = {
        slake(tmp_path).fingerprint,
        slake(tmp_path, language="zh").fingerprint,
        slake(tmp_path, (ROW,)).fingerprint,
    }
    assert len(prints) == 3


@needs("slake")
def test_slice_without_images_is_refused_and_with_any_is_read(tmp_path):
    if not (DATA / "slake" / "Slake1.0" / "imgs").is_dir():
        assert "no images" in refused(Slake(str(DATA / "slake")))
    write(tmp_path / "Slake1.0" / "test.json", (DATA / "slake" / "Slake1.0" / "test.json").read_text())
    first = png(tmp_path / "Slake1.0" / "imgs" / "xmlab0" / "source.jpg").parent
    for number in range(1, 642):
        first.with_name(f"xmlab{number}").symlink_to(first)
    samples = list(Slake(str(tmp_path)).load("test"))
    assert len(samples) in (220, 1061) and {s.strata["modality"] for s in samples} == {"CT", "MRI", "X-Ray"}
