"""Each check finds its flaw, and says what would be right; the shipped records pass them all (test_radabench_mini)."""

from components.radiology.synthesis.checks import record_flaws
from tests.components.radiology.synthesis.sound import case, spoilt
from tests.table import each_row

FINDING, SHORT = "Report.Finding", "Nothing. Nothing. Nothing."
SPOILT = {
    "markup": ({"Information.History": "Asthma <script>alert(1)</script>"}, "Information holds '<script>'"),
    "template": ({"Anomaly.Part": "Hilum {{ cycler }}"}, "Anomaly holds '{'"),
    "other script": ({"Information.Complaint": "咳嗽三周"}, "Information holds '咳'; plain English"),
    "French": (
        {
            FINDING: "La bande paratrachéale droite mesure 7 mm. Des ganglions sont visibles. Rien de plus.",
            "Treatment": "Le patient commence une corticothérapie par voie orale. Un contrôle est prévu dans six mois.",
        },
        "do not read like English",
    ),
    "age in words": ({"Information.Age": "thirty"}, "digits only"),
    "age": ({"Information.Age": "120"}, "1 to 95 is expected"),
    "height": ({"Information.Height": "260"}, "140 to 205 cm"),
    "weight": ({"Information.Weight": "20"}, "body mass index"),
    "sex": ({"Information.Sex": "female"}, "Male or Female is expected"),
    "other anomaly": ({"Anomaly.Symptom": "Cavity"}, "AnomalyObject is not what Anomaly.Symptom says"),
    "short finding": ({FINDING: SHORT}, "does not name 'Right paratracheal stripe'"),
    "one sentence": ({FINDING: "All is well."}, "has 1 sentences; 3 to 5"),
    "no quantity": ({"OrganBiomarker.OrganQuant": "11 mm"}, "does not state '11 mm'"),
    "no dimension": ({"AnomalyBiomarker.AnomalyDim": "volume"}, "does not say that a volume was measured"),
    "no disease": ({"Report.Impression": "Swollen nodes."}, "does not name 'Pulmonary sarcoidosis'"),
    "new number": ({"Report.Impression": "Pulmonary sarcoidosis of 77 mm."}, "has the number 77"),
    "no unit": ({"OrganBiomarker.OrganQuant": "large"}, "a number with a unit such as 14 mm"),
    "wrong unit": ({"OrganBiomarker.OrganDim": "angle"}, "a angle is measured in degrees"),
    "language": ({FINDING: case()["case"]["Report"]["Finding"] + " It is echogenic."}, "is not said of X-ray"),
    "man": ({"Information.History": "Prostate removed"}, "does not fit a female patient"),
    "breast": ({"Anatomy": "Breast", "Information.Sex": "Male"}, "is female, but for gynaecomastia"),
    "level": ({"Indicator.Value": "high"}, "a level of the score"),
    "place": ({"Indicator.Name": "Pfirrmann grade of the Scadding stage"}, "is used for Spine, MRI"),
    "usual": ({"Indicator.Name": "Some grade"}, "for 'Pulmonary sarcoidosis' it holds 'Scadding'"),
    "sides": ({"Anomaly.Part": "Left hilum"}, "anomaly is on the left, the organ on the right"),
    "treatment": ({"Treatment": "Wait."}, "2 to 5 and 30 to 90 are expected"),
}


def test_a_shipped_record_is_sound():
    assert record_flaws(case()["case"]) == []


@each_row("what", SPOILT)
def test_an_error_in_a_record_is_found(what):
    changes, said = SPOILT[what]
    assert any(said in flaw for flaw in record_flaws(spoilt(changes))), record_flaws(spoilt(changes))


@each_row(
    "spoil, message",
    [
        (lambda record: record.pop("Disease"), "are expected"),
        (lambda record: record["Report"].pop("Finding"), "Report is no object with the keys"),
        (lambda record: record.update(Report="All is well."), "Report is no object with the keys"),
        (lambda record: record.update(Disease=["gout"]), "a text of one line is expected"),
        (lambda record: record.update(Disease="gout\n"), "a text of one line is expected"),
        (lambda record: record.update(Disease="gout\u202e"), "a text of one line is expected"),
        (lambda record: record.update(Disease="gout\x1b[2J"), "a text of one line is expected"),
        (lambda record: record.update(Treatment="x" * 5_000), "of at most 4000 letters"),
    ],
)
def test_a_record_of_another_layout_gets_only_that_message(spoil, message):
    record = case()["case"]
    spoil(record)
    flaws = record_flaws(record)
    assert len(flaws) == 1 and message in flaws[0]


def test_a_score_fits_its_place_and_disease_and_has_a_level():
    flaws = record_flaws(spoilt({"Indicator.Name": "Lake Louise criteria"}))
    assert "Indicator.Name is 'Lake Louise criteria', which is used for Chest, MRI; this is Chest, X-ray" in flaws
    free = {"Disease": "Silicosis", "Indicator.Name": "A grade", "Report.Impression": "Silicosis."}
    assert record_flaws(spoilt(free)) == []
    for value, sound in (
        ("Grade b", True),
        ("IV", True),
        ("Definite", True),
        ("high", False),
        ("IV" + " 1" * 40, False),
    ):
        assert (
            record_flaws(spoilt({"Indicator.Value": value, "Report.Impression": "Pulmonary sarcoidosis."})) == []
        ) is sound
