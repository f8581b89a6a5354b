import pytest

from components.core.errors import ToolError
from components.core.messages import Image, Sampling
from components.core.tools import NoState
from components.core.types import Problem
from components.files.attachments import SampleFiles
from components.tools.vision import VisionTool
from tests.components.tools.pictures import picture, shown
from tests.components.tools.ward import Speaking
from tests.table import each_row

IMAGES = (shown(picture()), shown(picture(colour=(9, 9, 9))))
PROBLEM = Problem("p", "q", images=IMAGES, inputs={"image": "a.png", "sql_database": "db", "image_2": "b.png"})
NAMES = ["HuatuoGPT", "MedCaptioner", "MiniCPM"]


def speaking(*replies, problem=PROBLEM, state=None):
    return Speaking(state or NoState(), list(replies), problem)


@pytest.mark.parametrize("name", ["HuatuoGPT", "MiniCPM"])
async def test_a_question_goes_with_its_image_to_the_model(name):
    context = speaking(" A fracture. ")
    found = await VisionTool(name)(context, query="What is broken?", image="b.png")
    assert (found.text, found.data) == ("A fracture.", {"backend": "model"})
    ((message,),) = context.asked
    assert message.source == "vision/answer.jinja" and message.content[1:] == (IMAGES[1],)
    assert message.text.endswith("Question: What is broken?") and context.roles == ["vision"]


async def test_a_caption_needs_no_question():
    context = speaking("A chest radiograph.")
    tool = VisionTool("MedCaptioner", role="captioner", temperature=0, max_tokens=1024)
    assert (await tool(context, image="a.png")).text == "A chest radiograph."
    ((message,),) = context.asked
    assert message.source == "vision/caption.jinja" and message.content[1:] == (IMAGES[0],)
    assert context.roles == ["captioner"] and context.samplings == [Sampling(temperature=0, max_tokens=1024)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backend", ["model", "inspector"])
async def test_an_image_that_the_task_has_not_is_not_found(name, backend, tmp_path):
    state = SampleFiles({"db": tmp_path, "c.png": tmp_path})
    for image in ("c.png", "db", "../a.png"):
        with pytest.raises(ToolError, match=r"this task's images are: 'a\.png', 'b\.png'\.$") as caught:
            await VisionTool(name, backend)(speaking(state=state), query="What?", image=image)
        assert caught.value.label == "not_found"
    with pytest.raises(ToolError, match="images are: none"):
        await VisionTool(name, backend)(speaking(problem=Problem("p", "q")), query="What?", image="a.png")


async def test_a_blank_reply_is_an_error():
    with pytest.raises(ToolError, match="MiniCPM said nothing") as caught:
        await VisionTool("MiniCPM")(speaking(" \n"), query="What?", image="a.png")
    assert caught.value.label == "empty"


async def test_an_image_that_no_model_can_be_shown_is_unavailable():
    problem = Problem("p", "q", inputs={"image": "a.dcm"})
    for backend in ("model", "inspector"):
        with pytest.raises(ToolError, match=r"'a\.dcm' is in no format") as caught:
            await VisionTool("MedCaptioner", backend)(speaking(problem=problem), image="a.dcm")
        assert caught.value.label == "unavailable"


@each_row("name", NAMES)
async def test_the_inspector_reports_metadata_and_says_so(name):
    context = speaking()
    found = await VisionTool(name, "inspector")(context, query="What?", image="b.png")
    lines = found.text.splitlines()
    assert lines[0].startswith("Metadata of the image. No model has looked at it")
    assert lines[1:4] == ["format: PNG", "width in pixels: 40", "height in pixels: 20"]
    assert found.data["backend"] == "inspector" and found.data["metadata"]["colours"] == "grey" and not context.asked


async def test_the_inspector_prefers_the_file(tmp_path):
    (tmp_path / "x").write_bytes(picture("JPEG", size=(8, 8)))
    context = speaking(state=SampleFiles({"a.png": tmp_path / "x", "b.png": tmp_path}))
    found = await VisionTool("MiniCPM", "inspector")(context, query="What?", image="a.png")
    assert "format: JPEG" in found.text
    with pytest.raises(ToolError, match=r"'b\.png' cannot be read: Is a directory") as caught:
        await VisionTool("MiniCPM", "inspector")(context, query="What?", image="b.png")
    assert caught.value.label == "unavailable"


@each_row("url", ["https://host/a.png", "data:image/png,abc", "data:image/png;base64,?"])
async def test_the_inspector_fetches_nothing(url):
    problem = Problem("p", "q", images=(Image(url),), inputs={"image": "a.png"})
    with pytest.raises(ToolError) as caught:
        await VisionTool("MedCaptioner", "inspector")(speaking(problem=problem), image="a.png")
    assert caught.value.label == "unavailable"


@each_row("arguments", [{"image": 3}, {"image": ""}, {"query": None}])
async def test_arguments_are_checked(arguments):
    with pytest.raises(ToolError) as caught:
        await VisionTool("HuatuoGPT")(speaking(), **({"query": "What?", "image": "a.png"} | arguments))
    assert caught.value.label == "bad_arguments"


def test_specs_have_the_published_names_and_parameters():
    found = {name: VisionTool(name).spec for name in NAMES}
    assert [list(spec.parameters["properties"]) for spec in found.values()] == [
        ["query", "image"],
        ["image"],
        ["query", "image"],
    ]
    assert all(spec.facts == {"dimension": "multimodal", "needs": "image"} for spec in found.values())
    assert [spec.name for spec in found.values()] == NAMES
