"""A sandbox withstands hostile cells, and nothing is left of it. One file: its processes are started once.

The first stand of the machine is attacked with the rows whose outcome depends on the tier or the user (files,
processes, network, disk, limits); every stand with all rows with WARDROUND_TEST_SLOW=1.
"""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from components.core.errors import ConfigError
from components.sandbox import Library, Sandbox
from tests.components.sandbox.attacks import library
from tests.components.sandbox.attacks.attack import THOROUGH
from tests.components.sandbox.attacks.campaign import ALL, OPEN, TABLES, Campaign
from tests.components.sandbox.attacks.stands import STANDS, Stand
from tests.slow import slow
from tests.table import each_row

GONE_SECONDS = 20  # what is killed is gone long before, unless the machine is busy
TRIED = [name for name, table in TABLES.items() if table.tried]
USERS = [place for place in STANDS if THOROUGH or place == STANDS[1]]


@slow
@pytest.mark.parametrize("table", ALL)
def test_the_sandbox_withstands_every_attack(table: str, used: Campaign) -> None:
    used.holds(table)


@slow
@pytest.mark.parametrize("table", ALL)
def test_every_tier_withstands_attacks_for_every_user(table: str, other: Campaign) -> None:
    other.holds(table)


@slow
def test_attacks_leave_no_process_changed_file_or_connection(each: Campaign) -> None:
    each.leaves_nothing()


@slow
@pytest.mark.parametrize(("backend", "table", "name", "why"), OPEN)
def test_what_a_tier_does_not_withstand_is_reported(
    backend: str, table: str, name: str, why: str, campaign: Callable[[tuple[str, str]], Campaign]
) -> None:
    if not campaign((backend, "user")).faults(table, opened=True)[name]:
        pytest.fail("it is held: take the remark away")
    pytest.xfail(why)


@slow
@each_row("user", ["root", "user"])
@each_row("table", TRIED)
def test_only_the_sandbox_prevents_these_attacks(table: str, user: str, standing: Callable[[str, str], Stand]) -> None:
    standing("", user).suffers(TABLES[table].rows)


@slow
@each_row("place", STANDS)
def test_a_closed_sandbox_leaves_no_process_and_no_file(
    place: tuple[str, str], standing: Callable[[str, str], Stand]
) -> None:
    stand = standing(*place)
    stand.ask(hang=["open('left', 'w').write('x')", "while True: pass"])
    assert stand.ask(close=1) == {"open": [], "left": [], "files": []}


@slow
@pytest.mark.parametrize("place", USERS, ids="-".join)
def test_a_killed_host_leaves_no_process_and_no_file(
    place: tuple[str, str], standing: Callable[[str, str], Stand]
) -> None:
    stand = standing(*place)
    below = stand.ask(hang=["open('left', 'w').write('x')", "while True: pass"])
    assert below
    stand.process.send_signal(signal.SIGKILL)
    stand.process.wait()
    deadline = time.monotonic() + GONE_SECONDS
    while (left := [pid for pid in below if alive(pid)] + files(stand)) and time.monotonic() < deadline:
        time.sleep(0.02)
    stand.end()
    assert not left


def test_limits_alone_are_refused() -> None:
    with pytest.raises(ConfigError, match="rlimits"):
        Sandbox("rlimits").report()
    with pytest.raises(ConfigError, match="rlimits"):
        Sandbox("rlimits").open(Library(library.__name__, {}, ()))
    with pytest.raises(ConfigError, match="strict"):
        Sandbox("rlimits", strict=True, unsafe_local=True).report()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def files(stand: Stand) -> list[Path]:
    return list((stand.folder / "tmp").iterdir())
