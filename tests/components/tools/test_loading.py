import asyncio

import pytest

from components.tools.entity_recognizor import EntityRecognizor
from components.tools.loading import LOADING
from components.tools.privacy_detector import PrivacyDetector
from components.tools.toxicity_detector import ToxicityDetector

TEXT = "Ms Jane Doe coughs since 12/03/2020."


@pytest.mark.parametrize(
    ("tool", "parameter"),
    [(EntityRecognizor(shipped="vocabulary"), "sentence"), (PrivacyDetector(), "response"), (ToxicityDetector(), "sentence")],
)  # fmt: skip
async def test_tools_with_late_libraries_wait_for_each_other(tool, parameter):
    with LOADING:
        call = asyncio.create_task(tool(None, **{parameter: TEXT}))
        await asyncio.sleep(0.1)
        assert not call.done()
    assert (await call).text
