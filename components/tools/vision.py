"""The three image tools: a model that takes images answers or describes, or an inspector tells the metadata.

Source: Liao et al. 2024, arXiv 2410.17657, where HuatuoGPT is HuatuoGPT-Vision-7B, MedCaptioner a captioner made
from LLaVA-Med, and MiniCPM is MiniCPM-V-2.6. Departure: which model plays a tool's role is the configuration's matter.
"""

import asyncio
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge

from components.acting.arguments import text_argument
from components.core.errors import ToolError
from components.core.messages import Image, Sampling, ToolSpec
from components.core.tools import Context, Effect
from components.core.traits import PromptSetName, ToolTraits
from components.core.types import Observation, Problem
from components.files.attachments import SampleFiles
from components.prompts import load
from components.tools.image_notes import image_note

VisionName = Literal["HuatuoGPT", "MedCaptioner", "MiniCPM"]
_IMAGE = {"type": "string", "description": "The image, by the name that the task shows."}
_QUERY = {"type": "string", "description": "What you want to know of the image, in plain words."}


def _spec(name: VisionName, description: str, parameters: Mapping[str, Any]) -> ToolSpec:
    """The spec of an image tool."""
    schema = {"type": "object", "properties": dict(parameters), "required": list(parameters)}
    text = f"{description} Use it only when the task gives an image."
    return ToolSpec(name, text, schema, facts={"dimension": "multimodal", "needs": "image"})


_ASKED = {"query": _QUERY, "image": _IMAGE}
_SPECS: Mapping[VisionName, ToolSpec] = {
    "HuatuoGPT": _spec("HuatuoGPT", "Answers a question on a medical image: a model with medical training.", _ASKED),
    "MedCaptioner": _spec("MedCaptioner", "Describes a medical image: its kind and what it shows.", {"image": _IMAGE}),
    "MiniCPM": _spec("MiniCPM", "Answers a question on any image: a model for general pictures and texts.", _ASKED),
}
_METADATA = "Metadata of the image. No model has looked at it, so this says nothing of what it shows:"


@dataclass(frozen=True)
class VisionTool:
    """One of the three image tools, by ``name``.

    ``backend`` model: the model that plays ``role`` (``main`` where the configuration names none) is shown the image;
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
    effect: Effect = "pure"

    @property
    def traits(self) -> ToolTraits:
        """The model that it asks."""
        return ToolTraits(asks=self.role if self.backend == "model" else None)

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return _SPECS[self.name]

    async def __call__(self, context: Context, image: Any = "", query: Any = "", **_: Any) -> Observation:
        """Look at the image. Raises ToolError."""
        name = text_argument(self.spec, "image", image)
        question = text_argument(self.spec, "query", query) if "query" in self.spec.parameters["properties"] else ""
        _check(context.problem, name)
        if self.backend == "inspector":
            note = await asyncio.to_thread(lambda: image_note(_bytes(context, name)))
            lines = (f"{key}: {value}" for key, value in note.items())
            return Observation("\n".join((_METADATA, *lines)), {"backend": "inspector", "metadata": note})
        return Observation(await self._ask(context, _shown(context.problem, name), question), {"backend": "model"})

    async def _ask(self, context: Context, image: Image, question: str) -> str:
        """What the model says of the image."""
        prompts = load(self.prompts)
        message = prompts.user("answer", (image,), query=question) if question else prompts.user("caption", (image,))
        sampling = Sampling(temperature=self.temperature, max_tokens=self.max_tokens)
        reply = (await context.ask([message], "tool", sampling, self.role)).text.strip()
        if not reply:
            raise ToolError(f"{self.name} said nothing on this image.", "empty")
        return reply


def _check(problem: Problem, name: str) -> None:
    """Raises ToolError when the task has no image that is called so."""
    names = [value for kind, value in problem.inputs.items() if kind.startswith("image")]
    if name not in names:
        have = ", ".join(map(repr, names)) or "none"
        raise ToolError(f"There is no image {name!r}; this task's images are: {have}.", "not_found")


def _shown(problem: Problem, name: str) -> Image:
    """The image as a model is shown it."""
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
    head, _, body = _shown(context.problem, name).url.partition(",")
    if not head.startswith("data:") or not head.endswith(";base64"):
        raise ToolError(f"The image {name!r} lies elsewhere; only images at hand can be inspected.", "unavailable")
    try:
        return b64decode(body, validate=True)
    except ValueError:
        raise ToolError(f"The image {name!r} cannot be read: it is not base64.", "unavailable") from None
