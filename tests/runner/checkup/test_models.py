"""Keys are told by name, and only addresses of this machine are tried unasked."""

import socket

import pytest

from runner.checkup import models
from runner.checkup.line import Line
from tests.runner.checkup.lines import line


def test_an_endpoint_of_this_machine_is_tried_and_others_only_online(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("AZURE_API_BASE", f"http://127.0.0.1:{server.getsockname()[1]}/v1")
        assert line(models.endpoints(online=False), "model=azure").found.endswith(" answers")
    assert line(models.endpoints(online=False), "model=azure").found.endswith(" does not answer")
    monkeypatch.setenv("AZURE_API_BASE", "https://model.example/v1")
    assert line(models.endpoints(online=False), "model=azure").found == "model.example:443 not tried"


@pytest.mark.parametrize(
    "base", ["https://user:secret", "http://user:secret@host:abc", "localhost:8000/v1", "secret", "http://[x"]
)
def test_what_is_no_address_is_told_and_not_shown(monkeypatch, base):
    monkeypatch.setenv("AZURE_API_BASE", base)
    found = line(models.endpoints(online=True), "model=azure")
    assert (found.mark, found.found) == ("-", "its address is none") and "secret" not in found.hint


def test_keys_are_told_by_name(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    lines = models.keys()
    assert line(lines, "GEMINI_API_KEY") == Line("ok", "GEMINI_API_KEY", "set")
    assert line(lines, "OPENAI_API_KEY").hint == "for model=openai: export OPENAI_API_KEY=..."
    assert line(lines, "VLLM_API_KEY").found == "not set, not needed"


def test_dated_models_have_the_lines_of_what_they_are_based_on(monkeypatch):
    names = [one.name for one in (*models.keys(), *models.endpoints(online=False))]
    assert names.count("OPENAI_API_KEY") == 1 and not any("/" in name for name in names)
