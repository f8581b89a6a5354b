"""Ctrl-C at critical moments: during clean-up, and during steps that cannot be repeated."""

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


def hides_interrupt(*_):
    """As OmegaConf does when it restores flags: an error, raised from another one, hides the interrupt."""
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        try:
            raise KeyError("x")
        except KeyError as error:
            raise ConfigKeyError("defaults") from error


def test_interrupt_during_composition_is_not_a_config_error(home, monkeypatch):
    monkeypatch.setattr("hydra.main", lambda **_: lambda task: hides_interrupt)
    done = home.run()
    assert (done.code, "config error" in done.err) == (130, False), done


def test_interrupt_during_resolution_is_raised_as_interrupt(home):
    OmegaConf.register_new_resolver("breaks_off", hides_interrupt, replace=True)
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


def test_other_errors_are_unchanged():
    with pytest.raises(ValueError, match="as it was"), interrupts():
        raise ValueError("as it was")


@pytest.fixture
def interrupted(home):
    """The outcome of a command interrupted by a custom part."""
    (home.path / "mine" / "late.py").write_text(PARTS)
    return lambda part, target: home.run(f"{part}._target_=mine.late.{target}")


def test_second_ctrl_c_during_clean_up_is_not_a_job_error(interrupted, home):
    done = interrupted("model", "Twice")
    (folder,) = home.runs()
    _, first, second = done.err.splitlines()
    assert (done.code, first) == (130, "interrupted; finished work is kept; continue with:")
    assert second.endswith(f"run.resume={folder.relative_to(home.path)}")
    assert not [one for one in logging.getLogger().handlers if str(folder) in str(one)], (
        "the remaining resources are still closed"
    )


def test_ctrl_c_is_acknowledged_before_closing(interrupted):
    done = interrupted("model", "Once")
    stopping, closed, *_ = done.err.splitlines()
    assert (done.code, closed) == (130, "closed")
    assert stopping == "stopping; finished calls are kept, 1 call in flight is cut; Ctrl-C again stops at once"


def test_ctrl_c_during_the_checks_gives_no_hydra_warning(interrupted, home):
    done = interrupted("dataset", "Early")
    assert (done.code, done.err) == (130, "interrupted; finished work is kept\n")
    assert not (home.path / "outputs").exists()
