"""Tab completes what the command line knows, in a real bash."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runner.completion import install

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def test_one_command_installs_it_once(user, capsys):
    (user / ".bashrc").write_text("alias x=y")
    assert install("bash") == install("bash") == 0
    lines = (user / ".bashrc").read_text().splitlines()
    assert lines[0] == "alias x=y"
    assert len(lines) == 2
    assert (user / ".config/wardround/completion.bash").is_file()


def test_the_shell_in_use_is_the_default(user, monkeypatch, capsys):
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    assert install() == 0
    assert "bashcompinit" in (user / ".config/wardround/completion.zsh").read_text()
    assert "completion.zsh" in (user / ".zshrc").read_text()


def test_fish_loads_its_folder(user, capsys):
    assert install("fish") == 0
    assert "__wardround_complete" in (user / ".config/fish/conf.d/wardround.fish").read_text()


def test_a_shell_that_is_not_known(user, capsys):
    assert install("tcsh") == 2
    assert "valid: bash, fish, zsh" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_choices_and_keys(user, capsys):
    install("bash")
    lines = [
        "python -m runner agent=ehr_rea",
        "python -m runner -m agent=cot,ehr_rea",
        "python -m runner model.max_c",
        "python x.py a",
    ]
    script = 'source "$HOME/.bashrc"\n' + "\n".join(
        f'COMP_LINE="{line}"; COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({line}); COMPREPLY=(); _wardround_complete;'
        ' echo "[${COMPREPLY[*]}]"'
        for line in lines
    )
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    env = {"HOME": str(user), "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=env, cwd=user)
    assert done.stdout.splitlines() == ["[ehr_react]", "[cot,ehr_react]", "[model.max_connections=]", "[]"], done.stderr
