"""The three image tools: a model that takes images answers or describes, or an inspector reports the metadata.

Source: Liao et al. 2024, arXiv 2410.17657, where HuatuoGPT is HuatuoGPT-Vision-7B, MedCaptioner a captioner made
from LLaVA-Med, and MiniCPM is MiniCPM-V-2.6. Departure: the configuration chooses the model of a tool's role. Of a
DICOM file, only the tags in ``TAGS`` are read: never what identifies a patient.
"""

import asyncio
import io
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge

from components.acting.arguments import text_argument
from components.core.errors import ToolError, missing_extra
from components.core.messages import Image, Sampling, ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import PromptSetName, ToolTraits
from components.core.types import Observation, Problem
from components.files.attachments import MAX_PIXELS, SampleFiles
from components.prompts import load
from components.tools.backends import spec_of

# DICOM keyword -> its name here.
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
    """Name -> value: the tags of a DICOM file without its pixels, else what Pillow reads.

    Raises ToolError: unavailable (not an image that can be read, too many pixels, DICOM without pydicom).
    """
    if raw[_DICOM_MARK] != b"DICM":
        return _picture(raw)
    if lacking := missing_extra("a DICOM file", "pydicom", "dicom"):
        raise ToolError(lacking, "unavailable")
    import pydicom
    from pydicom.errors import InvalidDicomError

    try:
        tags = pydicom.dcmread(io.BytesIO(raw), stop_before_pixels=True, specific_tags=list(TAGS))
        values = {name: text for keyword, name in TAGS.items() if (text := str(tags.get(keyword, "")))}
    except (InvalidDicomError, OSError, ValueError, AttributeError, NotImplementedError) as error:
        raise ToolError(f"The DICOM file cannot be read: {error}.", "unavailable") from None
    if not values:
        raise ToolError("The DICOM file cannot be read: it has none of the tags that say what it is.", "unavailable")
    return {"format": "DICOM", **values}


def _picture(raw: bytes) -> dict[str, Any]:
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
    rounded = {f"{name} of the grey values": round(float(number), 1) for name, number in numbers.items()}
    return {"colours": "coloured" if coloured else "grey", **rounded}


VisionName = Literal["HuatuoGPT", "MedCaptioner", "MiniCPM"]
_METADATA = "Metadata of the image. No model has looked at it, so this says nothing of what it shows:"


@dataclass(frozen=True)
class VisionTool:
    """One of the three image tools, by ``name``.

    ``backend`` model: the model of ``role`` (``main`` where the configuration names none) is shown the image;
    inspector: format, size, statistics of the grey values and DICOM tags, for runs whose models take no images.
    ``temperature`` and ``max_tokens`` are of that call; published are 0.2 and 512 for HuatuoGPT, 0 and 1024 for
    MedCaptioner. Output: text; data: ``backend``, and the metadata of the inspector. Raises ToolError: not_found (no
    such image), unavailable (one that cannot be shown or read), empty (a blank reply), bad_arguments.
    """

    name: VisionName
    backend: Literal["model", "inspector"] = "model"
    role: str = "vision"
    prompts: PromptSetName = "vision"
    temperature: Annotated[float, Ge(0)] | None = None
    max_tokens: Annotated[int, Ge(1)] | None = None
    effect: ClassVar[Effect] = "pure"

    @property
    def traits(self) -> ToolTraits:
        """The model that it asks."""
        return ToolTraits(asks=self.role if self.backend == "model" else None)

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return spec_of(self.name)

    async def __call__(self, context: Context, /, image: Any = "", query: Any = "", **_: Any) -> Observation:
        name = text_argument(self.spec, "image", image)
        question = text_argument(self.spec, "query", query) if "query" in self.spec.parameters["properties"] else ""
        names = [value for kind, value in context.problem.inputs.items() if kind.startswith("image")]
        if name not in names:
            have = ", ".join(map(repr, names)) or "none"
            raise ToolError(f"There is no image {name!r}; this task's images are: {have}.", "not_found")
        if self.backend == "inspector":
            note = await asyncio.to_thread(lambda: image_note(_bytes(context, name)))
            lines = (f"{key}: {value}" for key, value in note.items())
            return Observation("\n".join((_METADATA, *lines)), {"backend": "inspector", "metadata": note})
        prompts, image = load(self.prompts), _image(context.problem, name)
        message = prompts.user("answer", (image,), query=question) if question else prompts.user("caption", (image,))
        sampling = Sampling(temperature=self.temperature, max_tokens=self.max_tokens)
        reply = (await context.ask([message], "tool", sampling, self.role)).text.strip()
        if not reply:
            raise ToolError(f"{self.name} said nothing on this image.", "empty")
        return Observation(reply, {"backend": "model"})


def _image(problem: Problem, name: str) -> Image:
    image = problem.image(name)
    if image is None:
        raise ToolError(f"The image {name!r} is in no format that a model can be shown.", "unavailable")
    return image


def _bytes(context: Context, name: str) -> bytes:
    """The bytes of an image: of its file where there is one, else of what a model is shown."""
    if isinstance(context.state, SampleFiles) and name in context.state.paths:
        path = context.state.path(name)
        try:
            return path.read_bytes()
        except OSError as error:
            raise ToolError(f"The image {name!r} cannot be read: {error.strerror}.", "unavailable") from None
    head, _, body = _image(context.problem, name).url.partition(",")
    if not head.startswith("data:") or not head.endswith(";base64"):
        raise ToolError(f"The image {name!r} lies elsewhere; only images at hand can be inspected.", "unavailable")
    try:
        return b64decode(body, validate=True)
    except ValueError:
        raise ToolError(f"The image {name!r} cannot be read: it is not base64.", "unavailable") from None
