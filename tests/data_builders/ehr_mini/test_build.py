"""The shipped files are reproducible from the tables and the seed, and the command makes other sizes."""

import json
import sqlite3
from contextlib import closing

import pytest

from data_builders.ehr_mini import __main__ as build
from data_builders.ehr_mini.schema import SHIPPED
from data_builders.shipped import same
from tests.data_builders.ehr_mini.shipped import DATABASES


@pytest.fixture(scope="module")
def files():
    return build.build()


def test_shipped_files_equal_the_built_ones(files):
    shipped = {
        path.relative_to(SHIPPED).as_posix() for path in SHIPPED.glob("*/*") if path.suffix in (".json", ".sqlite")
    }
    assert shipped == set(files)
    assert [name for name, content in files.items() if not same(SHIPPED / name, content)] == []


def test_the_shipped_files_are_small(files):
    assert len(files) == 4 * len(DATABASES)
    assert sum((SHIPPED / name).stat().st_size for name in files) < 3_000_000


def test_build_depends_on_the_seed(files):
    assert build.build(n_patients=30) == build.build(n_patients=30) != build.build(seed=1, n_patients=30)


def test_a_database_is_compared_by_its_content(tmp_path, files):
    name, path = "treqs/treqs.sqlite", tmp_path / "t.sqlite"
    assert not same(path, files[name])
    path.write_bytes(files[name])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA page_size = 4096")
        connection.execute("VACUUM")
    assert path.read_bytes() != files[name] and same(path, files[name])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE DEMOGRAPHIC SET AGE = AGE + 1 WHERE rowid = 1")
    assert not same(path, files[name])


def test_check_names_differences_and_writes_nothing(tmp_path, capsys):
    assert build.main(["--check", "--out", str(tmp_path)]) == 1
    assert "eicu/eicu.sqlite" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_the_command_writes_a_larger_set_with_csv_files(tmp_path):
    assert build.main(["--patients", "150", "--csv", "--out", str(tmp_path)]) == 0
    for database, n_tables in zip(DATABASES, (17, 10, 5), strict=True):
        assert len(list((tmp_path / database).glob("*.csv"))) == n_tables
        assert len(json.loads((tmp_path / database / "test.json").read_text())) > 60
    with (tmp_path / "mimic_iii" / "PATIENTS.csv").open() as file:
        assert len(file.readlines()) == 151


@pytest.mark.parametrize(
    ("n_patients", "message"), [(0, "1 to 30000, found 0"), (30_001, "found 30001"), (2, "more patients")]
)
def test_invalid_number_of_patients_is_refused_in_one_line(tmp_path, capsys, n_patients, message):
    with pytest.raises(SystemExit):
        build.main(["--patients", str(n_patients), "--out", str(tmp_path)])
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
