import io
import zlib

import pytest

from components.core.errors import ToolError
from components.tools.vision import image_note
from tests.components.tools.pictures import deep_picture, picture
from tests.table import each_row


def test_a_coloured_picture():
    assert image_note(picture(colour=(200, 100, 0))) == {
        "format": "PNG",
        "width in pixels": 40,
        "height in pixels": 20,
        "frames": 1,
        "mode": "RGB",
        "colours": "coloured",
        "mean of the grey values": 100.0,
        "standard deviation of the grey values": 0.0,
        "lowest of the grey values": 100.0,
        "highest of the grey values": 100.0,
    }


@each_row("kind, mode, colour", [("PNG", "L", 7), ("JPEG", "RGB", (7, 7, 7)), ("GIF", "P", 0)])
def test_a_grey_picture(kind, mode, colour):
    note = image_note(picture(kind, colour, mode, size=(1000, 800)))
    assert (note["format"], note["width in pixels"], note["colours"]) == (kind, 1000, "grey")


def test_grey_values_are_reported_in_the_pictures_own_range():
    note = image_note(deep_picture())
    assert (note["lowest of the grey values"], note["highest of the grey values"]) == (0.0, 60000.0)


@each_row("raw", [b"", b"no image", picture()[:60]])
def test_an_unreadable_image_is_unavailable(raw):
    with pytest.raises(ToolError, match="cannot be read") as caught:
        image_note(raw)
    assert caught.value.label == "unavailable"


@pytest.mark.parametrize("size", [(30_000, 4_000), (30_000, 30_000)])
def test_too_many_pixels_are_unavailable(size):
    head = picture(mode="L", colour=0)
    width, height = (number.to_bytes(4, "big") for number in size)
    raw = bytearray(head)
    raw[16:24] = width + height  # as the header says it; the checksum is next
    raw[29:33] = zlib.crc32(bytes(raw[12:29])).to_bytes(4, "big")
    with pytest.raises(ToolError, match=r"too many pixels|exceeds limit") as caught:
        image_note(bytes(raw))
    assert caught.value.label == "unavailable"


@each_row("rest", [b"", b"\xff" * 40, b"\2\0\0\0UL\4\0\0\0\0\0"])
@pytest.mark.filterwarnings("ignore::UserWarning:pydicom")
def test_dicom_that_cannot_be_read_is_unavailable(rest):
    pytest.importorskip("pydicom", reason="the extra dicom")
    with pytest.raises(ToolError, match="cannot be read") as caught:
        image_note(b"\0" * 128 + b"DICM" + rest)
    assert caught.value.label == "unavailable"


def test_tags_of_dicom_and_nothing_of_the_patient():
    pydicom = pytest.importorskip("pydicom", reason="the extra dicom")
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian

    meta = FileMetaDataset()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = pydicom.uid.ComputedRadiographyImageStorage
    meta.MediaStorageSOPInstanceUID = "1.2.3"
    made = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
    made.Modality, made.BodyPartExamined, made.ViewPosition = "CR", "CHEST", "PA"
    made.Rows, made.Columns, made.PixelSpacing = 10, 20, [0.5, 0.5]
    made.PatientName, made.PatientBirthDate = "Doe^Jane", "19500101"
    out = io.BytesIO()
    made.save_as(out, enforce_file_format=True)
    assert image_note(out.getvalue()) == {
        "format": "DICOM",
        "modality": "CR",
        "body part": "CHEST",
        "view": "PA",
        "width in pixels": "20",
        "height in pixels": "10",
        "distance of pixels in mm (rows, columns)": "[0.5, 0.5]",
    }
