import pytest

from tests.runner.command import settle


@pytest.fixture
def home(tmp_path, capsys, monkeypatch):
    yield from settle(tmp_path, capsys, monkeypatch)
