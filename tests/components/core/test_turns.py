from components.core.messages import Image, Message
from components.core.turns import continued

ASK = Message("user", "And now?")


def test_a_question_is_joined_to_the_users_last_message():
    assert [m.text for m in continued([Message("system", "s"), Message("user", "u")], ASK)] == ["s", "u\n\nAnd now?"]
    assert [m.text for m in continued([Message("assistant", "a")], ASK)] == ["a", "And now?"]
    seen = Message("user", ("look", Image("data:x")))
    assert continued([seen], ASK)[0].content == ("look", Image("data:x"), "And now?")
