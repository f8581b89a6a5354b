"""Eight runs started at the same time, on a machine without a tracking database."""

import sqlite3

import pytest

from tests.acceptance.command import read_manifest, read_records, start
from tests.slow import slow

pytestmark = slow  # tests/runner/test_tracking.py has eight processes on one new database

EIGHT = range(8)


@pytest.fixture(scope="module")
def eight(tmp_path_factory):
    cwd = tmp_path_factory.mktemp("eight")
    processes = [
        start(cwd, "dataset=cohort", "agent=direct", "limit=2", f"seed={n}", "tracking.wait=true") for n in EIGHT
    ]
    return cwd, [one.done(120) for one in processes]


def test_all_runs_succeed(eight):
    for done in eight[1]:
        assert done.code == 0, done.err
        assert "Traceback" not in done.out + done.err


def test_every_run_has_its_own_folder_and_records(eight):
    cwd, ended = eight
    folders = {done.folder for done in ended}
    assert len(folders) == len(EIGHT)
    assert folders == {path.resolve() for path in (cwd / "outputs" / "scratch").iterdir()}
    assert all(len(read_records(folder)) == 2 for folder in folders)
    assert sorted(read_manifest(folder)["seed"] for folder in folders) == list(EIGHT)


def test_every_run_is_in_the_database_once(eight):
    cwd, ended = eight
    database = sqlite3.connect(cwd / "outputs" / ".mlflow" / "mlflow.db")
    try:
        runs = dict(database.execute("select run_uuid, status from runs"))
        experiments = database.execute("select count(*) from experiments where name = 'scratch'").fetchone()[0]
    finally:
        database.close()
    assert {read_manifest(done.folder)["mlflow"]["run_id"] for done in ended} == set(runs)
    assert set(runs.values()) == {"FINISHED"}
    assert experiments == 1


def test_the_last_line_links_to_mlflow(eight):
    for done in eight[1]:
        assert done.out.splitlines()[-1].startswith("MLflow:")
