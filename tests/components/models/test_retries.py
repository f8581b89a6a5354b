import pytest

from components.models.faults import Fault
from components.models.retries import Retries


class Attempts:
    """Fails as told, then answers."""

    def __init__(self, *faults):
        self.faults, self.made = list(faults), 0

    async def __call__(self):
        self.made += 1
        if self.faults:
            raise self.faults.pop(0)
        return "done"


def quick(limit=6):
    return Retries(limit, first_seconds=0.001)


async def test_what_can_pass_is_tried_again_and_counted():
    retries, attempts = quick(), Attempts(Fault("server", "a"), Fault("rate_limit", "b"), Fault("server", "c"))
    assert await retries.run(attempts) == "done"
    assert (attempts.made, retries.by_kind) == (4, {"server": 2, "rate_limit": 1})


async def test_what_cannot_pass_is_not():
    retries, attempts = quick(), Attempts(Fault("bad_request", "a"))
    with pytest.raises(Fault, match="a"):
        await retries.run(attempts)
    assert (attempts.made, retries.by_kind) == (1, {})


async def test_it_ends_after_the_limit_with_the_last_fault():
    retries, attempts = quick(3), Attempts(*(Fault("server", str(n)) for n in range(10)))
    with pytest.raises(Fault, match="3"):
        await retries.run(attempts)
    assert (attempts.made, retries.by_kind["server"]) == (4, 3)


async def test_no_retries_is_one_attempt():
    attempts = Attempts(Fault("server", "a"))
    with pytest.raises(Fault):
        await quick(0).run(attempts)
    assert attempts.made == 1


def test_waits_double_up_to_the_longest_with_full_jitter():
    retries = Retries()
    for n, longest in enumerate((0.5, 1, 2, 4, 8, 16, 32, 60, 60)):
        waits = [retries.delay(n, Fault("server", "")) for _ in range(300)]
        assert 0 <= min(waits) < longest / 4 and longest * 3 / 4 < max(waits) <= longest


def test_rate_limits_without_a_word_wait_longer():
    assert max(Retries().delay(0, Fault("rate_limit", "")) for _ in range(300)) > 1.5


def test_retry_after_is_obeyed():
    waits = [Retries().delay(0, Fault("rate_limit", "", retry_after=7.0)) for _ in range(100)]
    assert min(waits) >= 7 and max(waits) <= 7.5
