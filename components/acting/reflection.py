"""The block in which a reply thinks before it acts: ``<Reflection>`` with what was weighed inside.

Source: Zheng et al. 2024, arXiv 2412.09529, whose block holds ``<Candidates>``, ``<Reasoning>`` and ``<Constraints>``.
"""

import re

OPENS, CLOSES = "<Reflection>", "</Reflection>"
_TAG = re.compile(r"</?\w+>")


def reflection_in(text: str) -> str:
    """What the first block says, without the tags inside it; empty where there is no block or nothing in it."""
    inside, closed, _ = text.partition(OPENS)[2].partition(CLOSES)
    return " ".join(_TAG.sub(" ", inside).split()) if closed else ""
