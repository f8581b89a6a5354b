"""Every backend of this machine, as root and as an ordinary user: one process each, kept for all tests.

Each stands the attacks whose outcome depends on the tier or the user; with WARDROUND_TEST_SLOW, all.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.components.sandbox.attacks.attack import THOROUGH
from tests.components.sandbox.attacks.campaign import ALL, BRIEF, Campaign
from tests.components.sandbox.attacks.stands import STANDS, Stand, lacking
from tests.slow import slow


@pytest.fixture(scope="session")
def standing() -> Iterator[Callable[[str, str], Stand]]:
    """The stand of a backend and a user, made when it is first asked for."""
    with ExitStack() as stack:
        made: dict[tuple[str, str], Stand] = {}

        def find(backend: str, user: str) -> Stand:
            if reason := lacking(backend, user):
                pytest.skip(reason)
            if (backend, user) not in made:
                made[backend, user] = stack.enter_context(Stand(backend, user))
            return made[backend, user]

        yield find


@pytest.fixture(scope="session")
def campaign(
    request: pytest.FixtureRequest, standing: Callable[[str, str], Stand]
) -> Callable[[tuple[str, str]], Campaign]:
    """What became of the attacks on a stand: of the tables whose tests were chosen for this run."""
    made: dict[tuple[str, str], Campaign] = {}
    chosen = [
        item.callspec.params
        for item in request.session.items
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
    ]

    def find(place: tuple[str, str]) -> Campaign:
        if place not in made:
            stand = standing(*place)
            tables = [name for name in ALL if any(one.get("table") == name for one in chosen)]
            made[place] = Campaign(stand, tables or BRIEF, not THOROUGH, THOROUGH)
        return made[place]

    return find


def first() -> tuple[str, str]:
    """The stand of this machine that every attack is tried on. Skips where there is none."""
    reasons = {place: lacking(*place) for place in STANDS}
    for place, reason in reasons.items():
        if not reason:
            return place
    pytest.skip(f"no sandbox can stand here: {reasons}")


@pytest.fixture
def used(campaign: Callable[[tuple[str, str]], Campaign]) -> Campaign:
    """The first stand of this machine."""
    return campaign(first())


LATER = (("bwrap", "user"), ("landlock", "user"))  # with the slow tests: alike to their tier as root
OTHERS = [pytest.param(place, marks=slow) if place in LATER else place for place in STANDS[1:]]


@pytest.fixture(params=OTHERS, ids="-".join)
def other(request: pytest.FixtureRequest, campaign: Callable[[tuple[str, str]], Campaign]) -> Campaign:
    """Every stand but the best."""
    return campaign(request.param)


_LATE = STANDS[1:]  # for root on the best tier by default


@pytest.fixture(params=[pytest.param(one, id="-".join(one), marks=slow if one in _LATE else ()) for one in STANDS])
def each(request: pytest.FixtureRequest, campaign: Callable[[tuple[str, str]], Campaign]) -> Campaign:
    """Every stand of this machine."""
    return campaign(request.param)
