from statistics import correlation, fmean

import pytest

from components.core.messages import Message
from components.simulation.draws import Draws
from tests.table import each_row

CHATS = [[Message("system", "s"), Message("user", f"question {n}")] for n in range(2000)]


def test_the_same_request_gives_the_same_draws():
    names = ("competence", "malformed", "wrong tool")
    assert [Draws(3, CHATS[0]).share(n) for n in names] == [Draws(3, list(CHATS[0])).share(n) for n in names]


def test_seed_messages_and_name_each_change_a_draw():
    base = Draws(3, CHATS[0]).share("a")
    assert base not in (Draws(4, CHATS[0]).share("a"), Draws(3, CHATS[1]).share("a"), Draws(3, CHATS[0]).share("b"))


def test_a_draw_for_the_whole_dialogue_depends_only_on_seed_and_question():
    longer = [Message("system", "another"), *CHATS[0][1:], Message("assistant", "x"), Message("user", "y")]
    whole = [Draws(seed, chat, question).share("a", whole=True) for seed, chat, question in
             ((3, CHATS[0], "q"), (3, CHATS[0][1:], "q"), (3, longer, "q"), (4, CHATS[0], "q"), (3, CHATS[0], "other"))]  # fmt: skip
    assert whole[0] == whole[1] == whole[2] and len(set(whole)) == 3
    assert Draws(3, CHATS[0], "q").share("a") != Draws(3, longer, "q").share("a")


def test_draws_of_a_turn_depend_on_seed_question_and_turn_and_not_on_the_prompt():
    other = [Message("system", "another"), *CHATS[0][1:]]
    draws = [Draws(seed, chat, question).in_turn(n) for seed, chat, question, n in
             ((3, CHATS[0], "q", 1), (3, other, "q", 1), (3, CHATS[0], "q", 2), (4, CHATS[0], "q", 1), (3, CHATS[0], "p", 1))]  # fmt: skip
    shares = [one.share("a") for one in draws]
    assert shares[0] == shares[1] and len(set(shares)) == 4
    assert draws[0].share("a", whole=True) == draws[2].share("a", whole=True) != shares[0]
    assert Draws(3, CHATS[0]).in_turn(1).share("a") == Draws(3, CHATS[0]).share("a")


@each_row("seed", [2**64, -(2**63) - 1, 2**200])
def test_any_number_is_a_seed(seed):
    assert 0 <= Draws(seed, CHATS[0]).share("a") < 1


def test_shares_are_uniform_and_independent():
    first = [Draws(0, chat).share("competence") for chat in CHATS]
    second = [Draws(0, chat).share("malformed") for chat in CHATS]
    third = [Draws(1, chat).share("competence") for chat in CHATS]
    assert all(0 <= share < 1 for share in first)
    assert fmean(first) == pytest.approx(0.5, abs=0.03)
    assert fmean(share < 0.1 for share in first) == pytest.approx(0.1, abs=0.03)
    assert abs(correlation(first, second)) < 0.08 and abs(correlation(first, third)) < 0.08


def test_events_happen_at_their_rate_and_never_or_always_at_the_extremes():
    assert fmean(Draws(0, chat).happens("x", 0.3) for chat in CHATS) == pytest.approx(0.3, abs=0.04)
    assert not any(Draws(0, chat).happens("x", 0.0) for chat in CHATS)
    assert all(Draws(0, chat).happens("x", 1.0) for chat in CHATS)


def test_pick_takes_every_choice_equally_often():
    picked = [Draws(0, chat).pick("which", "abcd") for chat in CHATS]
    assert all(picked.count(letter) == pytest.approx(500, abs=80) for letter in "abcd")
