"""Values as conditions write them: quoted or bare, alone or in a list, and what they are in a column of a type."""

import ast
import re
import warnings
from contextlib import suppress

Atom = str | int | float
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"([+-]?\d{1,19})(?:\.0*)?", re.ASCII)
_LARGEST = 2**63
_NULLS = {"null", "none", "nan"}
_LINE = re.compile("\r\n|[\r\n]")  # as Python counts lines


def unquoted(text: str) -> str:
    """The text without one pair of matching quotes."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def is_null(written: str) -> bool:
    """Whether a missing value is meant: one of three words, without quotes."""
    return written.lower() in _NULLS


def as_kind(text: str, kind: str) -> Atom | None:
    """The value in a column of a type (int, float, text); None for what such a column cannot hold.

    A whole number beyond 64 bits is given as a float.
    """
    if kind == "text":
        return text
    text = text.strip()
    if (whole := _WHOLE.fullmatch(text)) and kind == "int":
        number = int(whole[1])
        return number if -_LARGEST <= number < _LARGEST else float(number)
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    if kind == "float":
        return value
    if not value.is_integer():
        return value if abs(value) >= _LARGEST else None
    return int(value) if -_LARGEST <= value < _LARGEST else value


def members(written: str) -> list[str]:
    """The members of a list as texts: of a Python literal, else of what stands between commas. Bare numbers are as
    written, since in a column of texts they are codes (``250.10``)."""
    text = written.strip()
    with warnings.catch_warnings(), suppress(ValueError, SyntaxError, RecursionError, MemoryError):  # no literal
        warnings.simplefilter("ignore")  # of odd escapes in texts
        node = ast.parse(text, mode="eval").body
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            ast.literal_eval(node)
            lines = [line.encode() for line in _LINE.split(text)]
            return [member for one in node.elts if (member := _member(one, lines)) is not None]
    parts = (part.strip() for part in text.strip("[](){} \t\r\n").split(","))
    return [unquoted(part) for part in parts if part]


def _member(node: ast.expr, lines: list[bytes]) -> str | None:
    """A text of a literal's content, a number as it is written; None for what is neither.

    The lines are split once for all members: ``ast.get_source_segment`` does it for each, which takes the square.
    """
    value = ast.literal_eval(node)
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float) or node.end_lineno is None:
        return None
    written = lines[node.lineno - 1 : node.end_lineno]
    written[-1] = written[-1][: node.end_col_offset]
    written[0] = written[0][node.col_offset :]
    return b"\n".join(written).decode()
