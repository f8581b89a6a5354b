"""What goes wrong when a tool reads a database of health records, by kind.

Source: Shi et al. 2024, EHRAgent, arXiv 2401.07128; the kinds are our own.
"""

from typing import Literal, get_args

Kind = Literal[
    "unknown_table",
    "unknown_column",
    "no_such_value",
    "bad_condition",
    "type_mismatch",
    "unknown_operation",
    "no_rows",
    "forbidden_sql",
    "sql_error",
    "bad_duration",
    "bad_expression",
]
KINDS: tuple[str, ...] = get_args(Kind)
_SHOWN = 300  # characters of what a model wrote that an error repeats


class EhrError(Exception):
    """A call of a tool that cannot be answered; the text helps the model to repair it."""

    def __init__(self, text: str, kind: Kind) -> None:
        super().__init__(text)
        self.kind: Kind = kind


def quote(text: object) -> str:
    """What a model wrote or a table holds, as errors repeat it: in backticks, but short."""
    whole = str(text)
    return f"`{whole}`" if len(whole) <= _SHOWN else f"`{whole[:_SHOWN]}`... ({len(whole)} characters)"
