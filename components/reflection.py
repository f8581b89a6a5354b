"""The block in which a reply thinks before it acts: ``<Reflection>`` with what was weighed inside.

Source: Zheng et al. 2024, arXiv 2412.09529, whose block holds ``<Candidates>``, ``<Reasoning>`` and ``<Constraints>``.
"""

from __future__ import annotations

import re

OPENS = "<Reflection>"
_BLOCK = re.compile(r"<Reflection>(.*?)</Reflection>", re.DOTALL)
_TAG = re.compile(r"</?\w+>")


def reflection_in(text: str) -> str:
    """What the first block says, without the tags inside it; empty where there is no block or nothing in it."""
    found = _BLOCK.search(text)
    return " ".join(_TAG.sub(" ", found[1]).split()) if found else ""
