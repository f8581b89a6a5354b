from components.core.messages import Image, Message
from components.core.types import Problem, Sample
from components.models.simulated import AnswerKey

ONE = Sample(Problem("1", "What is shown?\nSay it briefly.", context="A man of 40."), "a")
SAME = Sample(Problem("2", "What is shown?\nSay it briefly.", context="A woman of 70."), "b")
OTHER = Sample(Problem("3", "What is shown here?"), "c")
KEY = AnswerKey([ONE, SAME, OTHER])


def user(text):
    return Message("user", text)


def test_a_question_is_found_by_its_text_with_and_without_a_lead():
    assert KEY.find([user("What is shown?\nSay it briefly.")]) is ONE
    assert KEY.find([user("Patient: x\n\nQuestion: What is shown here?\nReply with one line.")]) is OTHER


def test_the_context_distinguishes_equal_questions():
    text = "\n\nWhat is shown?\nSay it briefly."
    assert KEY.find([user("A woman of 70." + text)]) is SAME
    assert KEY.find([user("A man of 40." + text)]) is ONE


def test_one_question_on_two_databases_is_distinguished_by_the_database_description():
    twins = [Sample(Problem(n, "How many?", context=f"Ward {n}.\n\nTables: a"), "x") for n in ("north", "south")]
    key = AnswerKey(twins)
    for one in twins:
        database_message = Message("system", f"The database:\nWard {one.problem.id}.\nIts tables: b")
        assert key.find([database_message, user("Question: How many?")]) is one
    assert key.find([user("Question: How many?")]) in twins


def test_a_question_without_a_mark_is_found_where_one_was_added():
    open_ended = Sample(Problem("4", "The organ that makes insulin is"), "d")
    assert AnswerKey([open_ended]).find([user("Question:\nThe organ that makes insulin is?\nA) liver")]) is open_ended
    assert KEY.find([user("What is shown here??")]) is None


def test_half_a_question_or_another_is_not_found():
    assert KEY.find([user("What is shown?")]) is None
    assert KEY.find([user("Where is it shown here?")]) is None
    assert AnswerKey().find([user("What is shown here?")]) is None


def test_only_what_the_user_says_is_asked_and_the_newest_counts():
    assert KEY.find([Message("system", "What is shown here?"), Message("assistant", "What is shown here?")]) is None
    both = [user("What is shown here?"), user("What is shown?\nSay it briefly."), user("Write the next call.")]
    assert KEY.find(both) is ONE


def test_the_question_of_an_example_of_an_answer_is_not_what_is_asked():
    asked = user("What is shown?\nSay it briefly.")
    closing = "Write the final answer.\n\n[Example of an answer]\nQuestion: What is shown here?\nAnswer: c"
    assert KEY.find([asked, user(closing)]) is ONE
    assert KEY.find([asked, user("Question: What is shown here?")]) is OTHER


def test_samples_that_share_a_question_are_distinguished_by_other_displayed_text():
    image = [Image(f"data:image/png;base64,{n}") for n in range(2)]
    for twins, shown in (
        ([Problem("a", "Which?", {"A": "gout"}), Problem("b", "Which?", {"A": "scurvy"})], "Which?\nA. scurvy"),
        ([Problem("a", "Which?"), Problem("b", "Which?", context="Blue hands.")], "Blue hands.\nWhich?"),
        ([Problem(n, "Which?", inputs={"image": f"{n}.png"}) for n in "ab"], '{"image": "b.png"}\nWhich?'),
        (
            [Problem(n, "Which?", images=(one,)) for n, one in zip("ab", image, strict=True)],
            ("Question: Which?", image[1]),
        ),
    ):
        key = AnswerKey(Sample(one, "x") for one in twins)
        assert key.find([Message("user", shown)]).problem.id == "b"


def test_among_questions_of_which_equally_much_is_shown_the_last_of_the_text_counts():
    options = {"A": "gout", "B": "scurvy"}
    solved, asked, bare = (
        Sample(Problem(q, q, given), "A") for q, given in (("Which?", options), ("Who?", options), ("Where?", {}))
    )
    key, shown = AnswerKey([asked, solved, bare]), "A. gout\nB. scurvy"
    assert key.find([user(f"Question: Which?\n{shown}\nAnswer: A\n\nQuestion: Who?\n{shown}\nAnswer:")]) is asked
    assert key.find([user(f"Question: Who?\n{shown}\nAnswer: A\n\nQuestion: Which?\n{shown}\nAnswer:")]) is solved
    assert key.find([user(f"Question: Who?\n{shown}\nQuestion: Where?")]) is asked, "more of it is shown"
