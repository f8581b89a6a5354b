"""What the tools do where the optional extra text is not installed."""

import sys
from importlib.machinery import PathFinder

import pytest

from components.tools.entity_recognizor import EntityRecognizor
from components.tools.privacy_detector import PrivacyDetector
from components.tools.toxicity_detector import ToxicityDetector

HIDDEN = {"presidio_analyzer", "profanity_check", "spacy", "tldextract"}


class Lean(PathFinder):
    """Finds all modules but those of the extra."""

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
async def test_the_shipped_settings_work_without_it(lean, tool, parameter):
    assert tool.missing == "" and (await tool(None, **{parameter: "Ms Jane Doe coughs since 12/03/2020."})).text


def test_features_that_need_the_extra_name_it(lean):
    for tool in (
        EntityRecognizor(model="en_core_sci_sm"),
        PrivacyDetector(engine="presidio"),
        ToxicityDetector(classifier=True),
    ):
        assert tool.missing.endswith("needs the optional extra 'text': pip install 'wardround[text]'")
