"""What can be said of an image without looking at it: format, size, statistics of its grey values, DICOM tags.

Never what identifies a patient: of a DICOM file, only the tags in ``TAGS`` are read.
"""

import io
from collections.abc import Mapping
from typing import Any

from components.core.errors import ToolError, missing_extra
from components.files.attachments import MAX_PIXELS

# DICOM keyword -> how it is called here.
TAGS: Mapping[str, str] = {
    "Modality": "modality",
    "BodyPartExamined": "body part",
    "ViewPosition": "view",
    "Laterality": "side",
    "ImageLaterality": "side of the image",
    "PatientPosition": "position",
    "Columns": "width in pixels",
    "Rows": "height in pixels",
    "NumberOfFrames": "frames",
    "PhotometricInterpretation": "photometric interpretation",
    "BitsStored": "bits per pixel",
    "PixelSpacing": "distance of pixels in mm (rows, columns)",
    "SliceThickness": "thickness of the slice in mm",
}
_DICOM_MARK = slice(128, 132)
_SIDE = 512  # pixels of the reduced copy that statistics are taken of


def image_note(raw: bytes) -> dict[str, Any]:
    """Name -> value, for a DICOM file or whatever Pillow opens.

    Raises ToolError: unavailable (not an image that can be read, too many pixels, DICOM without pydicom).
    """
    return _dicom(raw) if raw[_DICOM_MARK] == b"DICM" else _picture(raw)


def _dicom(raw: bytes) -> dict[str, Any]:
    """The tags of a DICOM file, without its pixels."""
    if lacking := missing_extra("a DICOM file", "pydicom", "dicom"):
        raise ToolError(lacking, "unavailable")
    import pydicom
    from pydicom.errors import InvalidDicomError

    try:
        found = pydicom.dcmread(io.BytesIO(raw), stop_before_pixels=True, specific_tags=list(TAGS))
        values = {name: text for keyword, name in TAGS.items() if (text := str(found.get(keyword, "")))}
    except (InvalidDicomError, OSError, ValueError, AttributeError, NotImplementedError) as error:
        raise ToolError(f"The DICOM file cannot be read: {error}.", "unavailable") from None
    if not values:
        raise ToolError("The DICOM file cannot be read: it has none of the tags that say what it is.", "unavailable")
    return {"format": "DICOM", **values}


def _picture(raw: bytes) -> dict[str, Any]:
    """Format, size and statistics of a picture."""
    from PIL import Image as Pictures
    from PIL import UnidentifiedImageError

    bombs = (Pictures.DecompressionBombError, Pictures.DecompressionBombWarning)
    try:
        with Pictures.open(io.BytesIO(raw)) as picture:
            note = {
                "format": picture.format,
                "width in pixels": picture.width,
                "height in pixels": picture.height,
                "frames": getattr(picture, "n_frames", 1),
                "mode": picture.mode,
            }
            if picture.width * picture.height > MAX_PIXELS:
                raise ToolError(f"The image has too many pixels: {picture.width} x {picture.height}.", "unavailable")
            picture.thumbnail((_SIDE, _SIDE), Pictures.Resampling.NEAREST)
            return note | _statistics(picture)
    except (*bombs, UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise ToolError(f"The image cannot be read: {error}.", "unavailable") from None


def _statistics(picture: Any) -> dict[str, Any]:
    """Of grey values (the mean of the colours), in the picture's own range: 0 to 255, or as wide as it stores."""
    import numpy as np

    plain = picture if picture.mode in ("L", "I", "F") or picture.mode.startswith("I;") else picture.convert("RGB")
    values = np.asarray(plain, np.float64)
    coloured = values.ndim > 2 and float(np.ptp(values, axis=2).mean()) > 1
    grey = values.mean(axis=2) if values.ndim > 2 else values
    numbers = {"mean": grey.mean(), "standard deviation": grey.std(), "lowest": grey.min(), "highest": grey.max()}
    return {
        "colours": "coloured" if coloured else "grey",
        **{f"{name} of the grey values": round(float(number), 1) for name, number in numbers.items()},
    }
