from components.ehr.datasets.samples import ehr_questions
from tests.components.cab_files import write

ASKED = {
    "id": "q1", "db_id": "mimic_iii", "question": "How is aspirin taken? ", "template": "intake of aspirin?",
    "query": "select route from prescriptions where drug = 'aspirin' and current_time > '2105-01-01'",
    "value": {"patient_id": 12}, "importance": "high", "para_type": "human", "is_impossible": False,
}  # fmt: skip
UNASKED = {"id": "q2", "db_id": "mimic_iii", "question": "Her phone?", "template": "phone", "query": "null", "is_impossible": True}  # fmt: skip


def test_question_has_sql_or_cannot_be_answered(tmp_path):
    first, second = ehr_questions(write(tmp_path / "test.json", [ASKED, UNASKED]), "mimic_iii")
    assert (first.id, first.question, first.template) == ("q1", "How is aspirin taken?", "intake of aspirin?")
    assert (first.patient, first.strata) == ("12", {"importance": "high", "wording": "human"})
    assert (first.sql, second.sql, second.patient) == (ASKED["query"], None, None)
