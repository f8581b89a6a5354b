import sys

import pytest

from tests.in_process import command
from tests.runner.rating.cases import GRADED, RUBRIC, WORDS, Home, settle


def forget():
    """Unload the user's package."""
    for name in [n for n in sys.modules if n.partition(".")[0] == "mine"]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """A home with two runs, which are only read."""
    folder = tmp_path_factory.mktemp("rated")
    settle(folder)
    for name, words in (("hidden_one", GRADED), ("hidden_two", ("seed=7",))):
        given = ["--config-dir", "conf", "experiment=own", *WORDS, f"hydra.run.dir={name}", *words]
        code, _, err = command(folder, given, {"PYTHONPATH": ""})
        assert code == 0, err
    forget()
    return folder


@pytest.fixture
def rated(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(runs)])
    (tmp_path / "mine.yaml").write_text(RUBRIC)
    yield Home(runs / "hidden_one", runs / "hidden_two", tmp_path, capsys)
    forget()
