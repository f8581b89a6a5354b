"""The words of a statement, read from left to right, by which it is told whether it is a simple one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

_TOKEN = re.compile(r"'(?:[^']|'')*'|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?|-?\d+(?:\.\d+)?|[<>!]=|[<>=(),*]|\S")


class Unreadable(Exception):
    """The statement is of no simple kind."""


@dataclass
class Words:
    """Words, numbers, texts and signs, and how far they are read. What does not fit raises Unreadable."""

    tokens: list[str]
    at: int = 0

    @classmethod
    def of(cls, sql: str) -> Words:
        """Those of a statement."""
        return cls(_TOKEN.findall(sql))

    def sign(self) -> str:
        """A comparison."""
        found = self.next()
        return found if found in ("=", "!=", "<", "<=", ">", ">=") else self.fail()

    def literal(self) -> str:
        """A number, or a text without its quotes that FilterDB takes as it is."""
        found = self.next()
        if found[:1] == "'":
            text = found[1:-1].replace("''", "'")
            plain = text == text.strip() and "||" not in text and text[:1] not in ("'", '"', "")
            return text if plain and text.lower() not in ("null", "none", "nan") else self.fail()
        return found if found[-1:].isdigit() else self.fail()

    def peek(self) -> str:
        """The next token in lower case; empty at the end."""
        return self.tokens[self.at].lower() if self.at < len(self.tokens) else ""

    def next(self) -> str:
        """The next token."""
        if not self.peek():
            raise Unreadable
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, word: str) -> bool:
        """Whether the next token is this one, which is then passed."""
        fits = self.peek() == word
        self.at += fits
        return fits

    def expect(self, word: str) -> None:
        """Pass this token; the empty one is the end."""
        if self.peek() != word:
            raise Unreadable
        self.at += bool(word)

    def fail(self) -> NoReturn:
        """Give up."""
        raise Unreadable
