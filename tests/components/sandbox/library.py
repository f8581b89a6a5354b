"""What cells of these tests find in their namespace."""

import sqlite3

import numpy
import pandas


class Refused(Exception):
    kind = "no_rows"


def names(file="", text=""):
    def rows(sql):
        with sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True) as opened:
            return opened.execute(sql).fetchall()

    def refuse(message):
        raise Refused(message)

    return {"rows": rows, "refuse": refuse, "text": text, "pandas": pandas, "numpy": numpy}
