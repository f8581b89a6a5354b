from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from components.cab.tasks import DIMENSIONS
from components.cab.toolset import Clinical
from components.core.errors import ConfigError, ToolError
from components.core.messages import Image, ToolSpec
from components.core.protocols import Toolset
from components.core.tools import Tool
from components.core.traits import ToolTraits
from components.core.types import Observation, Problem, Sample
from components.files.attachments import SampleFiles
from runner.config.build import construct
from runner.config.errors import ConfigErrors
from tests.table import each_row

CONF = Path(__file__).parents[3] / "conf" / "toolset"
YAML, SERVICES = (yaml.safe_load((CONF / f"{name}.yaml").read_text()) for name in ("clinical", "clinical_services"))
NAMES = [
    "GoogleSearch",
    "Medrag",
    "DrugBank",
    "UMLS",
    "HuatuoGPT",
    "MedCaptioner",
    "MiniCPM",
    "Calculator",
    "DBManual",
    "SQLCoder",
    "EntityRecognizor",
    "LongDocRAG",
    "ToxicityDetector",
    "PrivacyDetector",
]
TEXT = Sample(Problem("t", "Which?"), "A")
XRAY = Sample(
    Problem("x", "Which?", images=(Image("data:x"),), inputs={"image": "xray.png"}),
    "A",
    files={"xray.png": "a/xray.png"},
)


@dataclass(frozen=True)
class Named:
    """A tool of the test."""

    name: str
    facts: dict = field(default_factory=lambda: {"dimension": "data"})
    missing: str = ""
    effect: str = "pure"

    @property
    def spec(self):
        return ToolSpec(self.name, "a tool", facts=self.facts)

    @property
    def traits(self):
        return ToolTraits(missing=self.missing)

    async def __call__(self, context, **arguments):
        return Observation(self.name)


KIT = {
    "Look": Named("Look", {"dimension": "multimodal", "needs": "image"}),
    "Ask": Named("Ask", {"dimension": "knowledge"}, missing="no key"),
    "Query": Named("Query", {"dimension": "numerical", "needs": "sql_database"}),
    "Read": Named("Read"),
}


def offered(use, sample=TEXT, tools=KIT):
    return list(Clinical(tools, use).open(sample).tools)


def test_auto_takes_only_the_tools_for_images_away_and_only_where_there_is_none():
    assert offered("auto") == ["Plan", "Think", "Ask", "Query", "Read"]
    assert offered("auto", XRAY) == ["Plan", "Think", "Look", "Ask", "Query", "Read"]


@each_row(
    "use,names",
    [
        ("all", "Look Ask Query Read"),
        ("all_wo_mm", "Ask Query Read"),
        ("know", "Ask"),
        ("mm", "Look"),
        ("num", "Query"),
        ("data", "Read"),
        (["Read", "Look"], "Look Read"),
        ([], ""),
    ],
)
@each_row("sample", [TEXT, XRAY])
def test_other_sets_are_the_same_for_every_sample_in_the_configurations_order(use, names, sample):
    if use == []:
        with pytest.raises(ConfigError, match="leaves no tool"):
            Clinical(KIT, use)
    else:
        assert offered(use, sample) == ["Plan", "Think", *names.split()]


def test_the_offer_holds_the_samples_files_and_the_tools_dimensions():
    toolset = Clinical(KIT)
    assert isinstance(toolset, Toolset)
    offer = toolset.open(XRAY)
    assert offer.state == SampleFiles({"xray.png": Path("a/xray.png")})
    with pytest.raises(ToolError, match=r"its file is missing"):
        offer.state.path("xray.png")
    dimensions = {"Look": "multimodal", "Ask": "knowledge", "Query": "numerical", "Read": "data"}
    tools = {"Plan": "inner", "Think": "inner", **dimensions}
    assert offer.facts == {"tools": tools, "toolset": list(tools)}
    assert not offer.may_refuse and not offer.controls
    assert toolset.open(XRAY).tools is offer.tools


def test_images_are_looked_at_by_tools_or_by_the_model():
    assert not Clinical(KIT).open(XRAY).shows_images
    assert Clinical(KIT, images="model").open(XRAY).shows_images


def test_notes_list_what_the_chosen_tools_lack():
    assert Clinical(KIT).traits.notes == ["Ask will be unavailable: no key"]
    assert Clinical(KIT, ["Read"]).traits.notes == []


@each_row(
    "tools,use,message",
    [
        (KIT, ["Look", "Lok"], "there is no tool 'Lok'; did you mean Look[?] there are Look, Ask, Query, Read"),
        (KIT, "trust", "use='trust' leaves no tool; there are Look"),
        (KIT, "some", "it is one of auto, all"),
        ({"Plan": Named("Plan")}, "auto", "Plan is always offered"),
        ({"Reader": Named("Read")}, "auto", "Reader is the tool Read; give it that name"),
        ({"Read": Named("Read", {})}, "auto", "Read has the dimension None"),
    ],
)
def test_a_bad_configuration_is_refused(tools, use, message):
    with pytest.raises(ConfigError, match=message):
        Clinical(tools, use)


def test_the_shipped_configuration_offers_the_toolbox_of_the_paper():
    toolset = construct(YAML, "toolset")
    assert list(toolset.tools) == NAMES
    assert all(isinstance(tool, Tool) for tool in toolset.tools.values())
    offer = toolset.open(XRAY)
    assert list(offer.tools) == ["Plan", "Think", *NAMES]
    assert set(offer.facts["tools"].values()) == {"inner", *DIMENSIONS}
    assert toolset.traits.notes == []


def test_services_take_the_place_of_the_samples_and_say_which_keys_they_lack():
    toolset = construct(SERVICES, "toolset")
    assert list(toolset.tools) == NAMES
    external = [name for name, tool in toolset.tools.items() if tool.effect == "external"]
    assert external == ["GoogleSearch", "Medrag", "DrugBank", "UMLS", "ToxicityDetector"]
    for key in ("BRAVE_API_KEY", "UMLS_API_KEY", "PERSPECTIVE_API_KEY"):
        assert [note for note in toolset.traits.notes if key in note]
    assert len(toolset.traits.notes) == 3


def test_configuration_errors_are_reported_at_their_keys():
    tools = {name: YAML["tools"][name] for name in ("EntityRecognizor", "PrivacyDetector", "ToxicityDetector")}
    with pytest.raises(ConfigErrors) as caught:
        construct(YAML | {"tools": tools | {"PrivacyDetector": tools["PrivacyDetector"] | {"threshold": 2}}}, "toolset")
    assert [flaw.key for flaw in caught.value.findings] == ["toolset.tools.PrivacyDetector.threshold"]
    assert construct(YAML | {"tools": tools, "use": ["PrivacyDetector"]}, "toolset").traits.notes == []
    with pytest.raises(ConfigErrors, match="use"):
        construct(YAML | {"tools": tools, "use": "everything"}, "toolset")
