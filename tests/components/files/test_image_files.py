import io
import os
from base64 import b64decode

import pytest
from PIL import Image as Pictures

from components.core.errors import ConfigError
from components.files.image_files import MAX_BYTES, image_of
from tests.components.cab_files import png, write


def test_image_becomes_a_data_url_that_holds_the_file(tmp_path):
    file = png(tmp_path / "a.jpg")  # the content counts, not the name
    kind, _, data = image_of(file).url.partition(",")
    assert (kind, b64decode(data)) == ("data:image/png;base64", file.read_bytes())


@pytest.mark.parametrize(("form", "kind"), [("JPEG", "jpeg"), ("GIF", "gif"), ("WEBP", "webp"), ("BMP", "png"), ("TIFF", "png")])  # fmt: skip
def test_kinds_that_models_take_stay_and_others_are_converted(tmp_path, form, kind):
    picture = Pictures.new("L", (3, 2), 77)
    picture.save(tmp_path / "a", form)
    head, _, data = image_of(tmp_path / "a").url.partition(",")
    assert head == f"data:image/{kind};base64"
    with Pictures.open(io.BytesIO(b64decode(data))) as shown:
        assert shown.size == (3, 2) and abs(shown.convert("L").getpixel((1, 1)) - 77) < 3


def test_samples_share_an_image_until_the_file_changes(tmp_path):
    file = png(tmp_path / "a.png")
    first = image_of(file)
    assert image_of(file) is first
    png(file, shade=9)
    os.utime(file, ns=(1, 1))
    assert image_of(file).url != first.url


@pytest.mark.parametrize(
    ("raw", "told"),
    [("", "must have 1 to"), ("no image", "not an image that can be shown"), ("BM broken", "cannot be read")],
)
def test_what_is_no_image_is_refused(tmp_path, raw, told):
    with pytest.raises(ConfigError, match=told):
        image_of(write(tmp_path / "a.png", raw))


def test_missing_or_too_large_image_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no image file"):
        image_of(tmp_path)
    with (tmp_path / "a.png").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ConfigError, match="must have 1 to 20,000,000 bytes, found 20,000,001"):
        image_of(tmp_path / "a.png")
