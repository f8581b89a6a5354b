"""Build ehr_mini: three databases and their questions, from the YAML tables of this folder and one seed.

Run ``python -m data_builders.ehr_mini`` to write what is shipped, with ``--check`` to compare it only.
``--patients 5000 --out FOLDER`` makes large ones elsewhere; ``--csv`` writes every table as a CSV file too.
Databases are compared by their content, since SQLite versions may pack it differently.
"""

import json
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from data_builders.ehr_mini.eicu_rows import Eicu
from data_builders.ehr_mini.mimic_rows import Mimic
from data_builders.ehr_mini.questions import questions
from data_builders.ehr_mini.schema import SHIPPED, Rows, Schema, opened, packed, write_csv
from data_builders.ehr_mini.treqs_rows import Treqs
from data_builders.shipped import arguments_of, keep

SEED = 2105
N_PATIENTS = 100
_MOST_PATIENTS = 30_000  # whose identifiers have the usual number of digits


def rows(seed: int = SEED, n_patients: int = N_PATIENTS) -> dict[str, Rows]:
    """The rows of the three databases."""
    mimic = Mimic(seed, n_patients).write()
    return {"mimic_iii": mimic, "eicu": Eicu(seed, n_patients).write(), "treqs": Treqs(seed, mimic).write()}


def build(seed: int = SEED, n_patients: int = N_PATIENTS) -> dict[str, bytes]:
    """All files: path relative to the folder ehr_mini -> content. Raises ValueError for too few patients."""
    made = {}
    for name, tables in rows(seed, n_patients).items():
        schema = Schema.of(name)
        made[f"{name}/{name}.sqlite"] = packed(schema, tables)
        with closing(opened(schema, tables)) as connection:
            for split, records in questions(schema, connection, seed).items():
                text = json.dumps(records, indent=1, ensure_ascii=False) + "\n"
                made[f"{name}/{split}.json"] = text.encode()
    return made


def export(folder: Path, target: Path) -> None:
    """Write the tables of the databases in a folder as CSV files: ``target/<database>/<table>.csv``."""
    for path in sorted(folder.glob("*/*.sqlite")):
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            write_csv(Schema.of(path.stem), connection, target / path.stem)


def main(arguments: Sequence[str] | None = None, home: Path = SHIPPED) -> int:
    """Write the files that differ, or only compare them; return the exit code."""
    parser = arguments_of("the databases and questions of ehr_mini")
    parser.add_argument("--csv", action="store_true", help="write every table as a CSV file too")
    parser.add_argument("--out", type=Path, default=home, help="folder to write to (default: the shipped one)")
    parser.add_argument("--patients", type=int, default=N_PATIENTS, help=f"default {N_PATIENTS}, what is shipped")
    parser.add_argument("--seed", type=int, default=SEED, help=f"default {SEED}, that of what is shipped")
    chosen = parser.parse_args(arguments)
    if not 1 <= chosen.patients <= _MOST_PATIENTS:
        parser.error(f"--patients must be 1 to {_MOST_PATIENTS}, found {chosen.patients}")
    try:
        files = build(chosen.seed, chosen.patients)
    except ValueError as error:
        parser.error(str(error))
    code = keep(chosen.out, files, chosen.check)
    if chosen.csv and not chosen.check:
        export(chosen.out, chosen.out)
    return code


if __name__ == "__main__":
    sys.exit(main())
