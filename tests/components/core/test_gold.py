from components.core.task_text import gold_answer, gold_text
from components.core.types import Problem, Sample
from tests.table import each_row


@each_row("target, text, answer", [
    ("B", "B. scurvy", "B"),
    ("free words", "free words", "free words"),
    ({"answer": "15.3", "Lower Limit": 14}, "15.3", "15.3"),
    ({"answer": ["a", "b"]}, "['a', 'b']", "a, b"),
    ({"answer": [{"entity_name": "gout"}, {"entity_name": "cough"}]}, "[{'entity_name': 'gout'}, {'entity_name': 'cough'}]",
     "[gout, cough]"),
    ({"accepted": ["I do not know", "fake"]}, "['I do not know', 'fake']", "I do not know"),
    ({}, "No result", "No result"),
    (7, "7", "7"),
    ({"answer": 3}, "3", "3"),
    ("yes", "yes", "yes"),
])  # fmt: skip
def test_the_right_answer_in_words_and_as_a_model_writes_it(target, text, answer):
    sample = Sample(Problem("p", "q", {"B": "scurvy"} if target == "B" else {}), target)
    assert gold_text(sample) == text and gold_answer(sample) == answer
