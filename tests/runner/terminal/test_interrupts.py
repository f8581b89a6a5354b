"""Ctrl-C where it hurts: in the middle of a clean-up, and of what cannot be done twice."""

import logging
import signal

import pytest
from omegaconf import OmegaConf
from omegaconf.errors import ConfigKeyError

from runner.terminal.command import interrupts

PARTS = """
import asyncio, signal, sys
from mine.parts import Echo, Numbers


def broken_off():
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        raise ImportError("cannot load module more than once per process")


class Twice(Echo):
    async def generate(self, request):
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(20)

    async def close(self):
        broken_off()


class Once(Echo):
    async def generate(self, request):
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(20)

    async def close(self):
        print("closed", file=sys.stderr)


class Early(Numbers):
    def load(self, split):
        broken_off()
"""


def breaks_off(*_):
    """As OmegaConf does where it puts flags back: an error, raised from another one, over the interrupt."""
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        try:
            raise KeyError("x")
        except KeyError as error:
            raise ConfigKeyError("defaults") from error


def test_an_interrupt_while_a_config_is_composed_is_no_error_of_the_config(home, monkeypatch):
    monkeypatch.setattr("hydra.main", lambda **_: lambda task: breaks_off)
    done = home.run()
    assert (done.code, "config error" in done.err) == (130, False), done


def test_an_interrupt_while_a_config_is_resolved_is_one(home):
    OmegaConf.register_new_resolver("breaks_off", breaks_off, replace=True)
    assert home.run("name=${breaks_off:}").code == 130


def test_an_interrupt_under_other_errors_is_raised():
    with pytest.raises(KeyboardInterrupt), interrupts():
        try:
            try:
                raise KeyboardInterrupt
            finally:
                raise OSError("while it passed")
        except OSError as error:
            raise ValueError("and another") from error


def test_any_other_error_is_left_alone():
    with pytest.raises(ValueError, match="as it was"), interrupts():
        raise ValueError("as it was")


@pytest.fixture
def interrupted(home):
    """How a command ends that is interrupted by a part of the user's."""
    (home.path / "mine" / "late.py").write_text(PARTS)
    return lambda part, target: home.run(f"{part}._target_=mine.late.{target}")


def test_a_second_ctrl_c_in_a_clean_up_is_no_error_of_the_job(interrupted, home):
    done = interrupted("model", "Twice")
    (folder,) = home.runs()
    _, first, second = done.err.splitlines()
    assert (done.code, first) == (130, "interrupted; what is finished is kept; continue with:")
    assert second.endswith(f"run.resume={folder.relative_to(home.path)}")
    assert not [one for one in logging.getLogger().handlers if str(folder) in str(one)], "what follows is closed still"


def test_ctrl_c_is_answered_before_anything_is_closed(interrupted):
    done = interrupted("model", "Once")
    stopping, closed, *_ = done.err.splitlines()
    assert (done.code, closed) == (130, "closed")
    assert stopping == "stopping, what is finished is kept; Ctrl-C again breaks off at once"


def test_ctrl_c_during_the_checks_is_no_warning_of_hydra(interrupted, home):
    done = interrupted("dataset", "Early")
    assert (done.code, done.err) == (130, "interrupted; what is finished is kept\n")
    assert not (home.path / "outputs").exists()
