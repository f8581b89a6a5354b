import io
import os
from base64 import b64decode
from pathlib import Path

import pytest
from PIL import Image as Pictures

from components.core.errors import ConfigError, ToolError
from components.files.attachments import MAX_BYTES, SampleFiles, attach, path_below, read_image
from components.files.file_dataset import task_sample
from components.files.rows import Row
from tests.components.cab_files import database, png, write


def test_files_get_short_names_and_paths_stay_hidden(tmp_path):
    images = [png(tmp_path / "x" / "scan.png", 1), png(tmp_path / "y" / "scan.png", 2)]
    sqlite = database(tmp_path / "mimic_iv.sqlite")
    notes = write(tmp_path / "notes" / "a.txt", "x").parent
    files = attach(images, sqlite, notes)
    sample = task_sample("vqarad", "multimodal", "v-1", "Which?", {"answer": "left"}, files=files)
    problem = sample.problem
    assert dict(problem.inputs) == {
        "image": "scan.png", "image_2": "2_scan.png", "sql_database": "mimic_iv", "upload_files": "notes",
    }  # fmt: skip
    assert problem.image("2_scan.png") == problem.images[1] != problem.image("scan.png")
    state = SampleFiles({name: Path(path) for name, path in sample.files.items()})
    assert state.path("mimic_iv") == sqlite and state.path("2_scan.png") == images[1]
    assert str(tmp_path) not in f"{problem.question}{dict(problem.inputs)}"
    assert attach(documents=notes, folder="patient_01").inputs == {"upload_files": "patient_01"}


def test_inputs_are_reached_by_name_only(tmp_path):
    (tmp_path / "notes").mkdir()
    files = SampleFiles({"notes": tmp_path / "notes", "lost": tmp_path / "lost"})
    assert files.path("notes") == tmp_path / "notes" and files.fork() is files
    for name in ("../etc/passwd", str(tmp_path / "notes"), "lost", ""):
        with pytest.raises(ToolError) as caught:
            files.path(name)
        assert caught.value.label == "not_found" and (name == "lost" or "'notes', 'lost'" in str(caught.value))
        assert not name.startswith("lost") or str(tmp_path) not in str(caught.value)
    files.close()


ROW = Row("data.json: record 3", {})


def test_relative_path_is_resolved_below_the_root(tmp_path):
    file = write(tmp_path / "root" / "a" / "b.txt", "x")
    assert path_below(tmp_path / "root", ROW, "images", "a/b.txt") == file
    assert path_below(tmp_path / "root", ROW, "images", "./a") == file.parent


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "a/../../secret.txt",
        "/etc/passwd",
        "C:\\x",
        "..\\secret.txt",
        "link/secret.txt",
        ".",
        "a\0b",
        "x" * 5000,
        "loop/a",
    ],
)
def test_path_that_leaves_the_root_is_refused(tmp_path, name):
    write(tmp_path / "secret.txt", "x")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path)
    (tmp_path / "root" / "loop").symlink_to("loop")
    with pytest.raises(ConfigError) as caught:
        path_below(tmp_path / "root", ROW, "images", name)
    assert str(caught.value).startswith("data.json: record 3: images: must be a relative path below")


def test_missing_path_says_how_to_get_it(tmp_path):
    with pytest.raises(ConfigError, match=r"record 3: images: there is no .*a\.png; draw it"):
        path_below(tmp_path, ROW, "images", "a.png", "draw it")


def test_root_may_itself_be_a_link(tmp_path):
    write(tmp_path / "real" / "a.txt", "x")
    (tmp_path / "root").symlink_to(tmp_path / "real")
    assert path_below(tmp_path / "root", ROW, "images", "a.txt").read_text() == "x"


def test_image_becomes_a_data_url_that_holds_the_file(tmp_path):
    file = png(tmp_path / "a.jpg")  # the content counts, not the name
    kind, _, data = read_image(file).url.partition(",")
    assert (kind, b64decode(data)) == ("data:image/png;base64", file.read_bytes())


@pytest.mark.parametrize(("form", "kind"), [("JPEG", "jpeg"), ("GIF", "gif"), ("WEBP", "webp"), ("BMP", "png"), ("TIFF", "png")])  # fmt: skip
def test_kinds_that_models_take_stay_and_others_are_converted(tmp_path, form, kind):
    picture = Pictures.new("L", (3, 2), 77)
    picture.save(tmp_path / "a", form)
    head, _, data = read_image(tmp_path / "a").url.partition(",")
    assert head == f"data:image/{kind};base64"
    with Pictures.open(io.BytesIO(b64decode(data))) as shown:
        assert shown.size == (3, 2) and abs(shown.convert("L").getpixel((1, 1)) - 77) < 3


def test_samples_share_an_image_until_the_file_changes(tmp_path):
    file = png(tmp_path / "a.png")
    first = read_image(file)
    assert read_image(file) is first
    png(file, shade=9)
    os.utime(file, ns=(1, 1))
    assert read_image(file).url != first.url


@pytest.mark.parametrize(
    ("raw", "message"),
    [("", "must have 1 to"), ("no image", "not an image that can be shown"), ("BM broken", "cannot be read")],
)
def test_a_file_that_is_not_an_image_is_refused(tmp_path, raw, message):
    with pytest.raises(ConfigError, match=message):
        read_image(write(tmp_path / "a.png", raw))


def test_missing_or_too_large_image_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no image file"):
        read_image(tmp_path)
    with (tmp_path / "a.png").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ConfigError, match="must have 1 to 20,000,000 bytes, found 20,000,001"):
        read_image(tmp_path / "a.png")
