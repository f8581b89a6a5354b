"""Where an answer stands in a text: as the reference implementation cuts it, and as a reader would.

Source: Liao et al. 2024, arXiv 2410.17657; rules of the reference (BlueZeros/ReflecTool at e89ef65).
"""

import re

_PHRASE = re.compile("the answer is ", re.IGNORECASE)
_SAYS = re.compile(r"\banswers?\*{0,2}(?: is\b| are\b|[ \t]*(?=[:=]))\*{0,2}[ \t]*[:=]?[ \t*]*", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[.!?][*]*\s+(?=[A-Z(])|\n")


def marked(text: str, to_end: bool = False) -> str:
    """The reference's answer: from the phrase to the first full stop of its line, or to the end of the text.

    ``to_end`` lets full stops pass. It may not cross a line break; then the next line with the phrase is
    tried. Without any it is the whole text.
    """
    lines = text.split("\n")
    n_last = len(lines) - (2 if len(lines) > 1 and not lines[-1] else 1)
    for number, line in enumerate(lines):
        if found := _PHRASE.search(line):
            head, stop, _ = line[found.end() :].partition(".")
            if stop and not to_end:
                return head.strip()
            if number >= n_last:
                return line[found.end() :].strip()
    return text


def announced(text: str) -> str:
    """What stands after the last "answer is" or "answer:"; empty when nothing does."""
    end = len(text)
    for found in _SAYS.finditer(text):
        end = found.end()
    return _bare(text[end:])


def conclusion(text: str) -> str:
    """What is announced as the answer, else the whole text."""
    return announced(text) or _bare(text)


def _bare(text: str) -> str:
    """A text without blanks around it and emphasis at its end."""
    return text.strip().rstrip("*_ ").rstrip()


def sentence(text: str) -> str:
    """The first sentence of a conclusion, which a full stop before a capital or a line break ends."""
    said = conclusion(text)
    return _SENTENCE_ENDS.split(said, maxsplit=1)[0].strip()
