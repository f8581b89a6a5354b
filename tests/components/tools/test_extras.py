"""What the tools do where the optional extras text and web are not installed."""

import sys
from importlib.machinery import PathFinder

import pytest

from components.tools.entity_recognizor import EntityRecognizor
from components.tools.privacy_detector import PrivacyDetector
from components.tools.search_api import SearchApi
from components.tools.toxicity_detector import ToxicityDetector
from components.tools.web_snapshot import WebSnapshot

HIDDEN = {"lxml", "presidio_analyzer", "profanity_check", "spacy", "tldextract"}


class Lean(PathFinder):
    """Finds all modules but those of the extras."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else super().find_spec(name, path, target)


@pytest.fixture
def lean(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [Lean if one is PathFinder else one for one in sys.meta_path])
    for name in [name for name in sys.modules if name.partition(".")[0] in HIDDEN]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize(
    ("tool", "parameter"),
    [(EntityRecognizor(shipped="vocabulary"), "sentence"), (PrivacyDetector(), "response"), (ToxicityDetector(), "sentence")],
)  # fmt: skip
async def test_shipped_settings_need_no_extra(lean, tool, parameter):
    assert tool.missing == "" and (await tool(None, **{parameter: "Ms Jane Doe coughs since 12/03/2020."})).text


def test_what_needs_an_extra_names_it(lean, tmp_path):
    (tmp_path / "page.html").write_text("<p>a</p>")
    for tool, extra in (
        (EntityRecognizor(model="en_core_sci_sm"), "text"),
        (PrivacyDetector(engine="presidio"), "text"),
        (ToxicityDetector(classifier=True), "text"),
        (SearchApi(), "web"),
        (WebSnapshot(path=str(tmp_path)), "web"),
    ):
        assert tool.missing.endswith(f"needs the optional extra '{extra}': pip install 'wardround[{extra}]'")
