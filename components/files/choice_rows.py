"""Rows of multiple-choice data: options by letter, and the right letter. Complaints name file, line and key."""

from __future__ import annotations

from string import ascii_uppercase

from components.files.rows import Row


def row_options(row: Row, most: int, least: int = 2) -> dict[str, str]:
    """The row's ``options``, an object letter -> text, A first and without a gap, none empty. Raises ConfigError."""
    options = row.named_texts("options")
    if not least <= len(options) <= most:
        counts = f"{least}" if least == most else f"{least} to {most}"
        raise row.error("options", f"must be {counts} options, found {len(options)}")
    if sorted(options) != list(ascii_uppercase[: len(options)]):
        raise row.error("options", f"must be lettered from A on, found {', '.join(options)}")
    if empty := [letter for letter in sorted(options) if not options[letter].strip()]:
        raise row.error("options", f"option {empty[0]} is empty")
    return {letter: options[letter] for letter in sorted(options)}


def row_letter(row: Row, key: str, options: dict[str, str]) -> str:
    """The letter of the right option. Raises ConfigError."""
    letter = row.text(key)
    if letter not in options:
        raise row.error(key, f"must be one of the options {', '.join(options)}, found {letter!r}")
    return letter


def explanation_of(row: Row, key: str) -> dict[str, str]:
    """``explanation`` for a sample's metadata, where the row has such a text: for solved examples, never shown in a
    problem. Raises ConfigError for what is neither a text nor null."""
    value = row.values.get(key)
    if value is None:
        return {}
    if not isinstance(value, str):
        raise row.error(key, f"must be a text or null, found {value!r:.80}")
    return {"explanation": value.strip()} if value.strip() else {}
