"""The eICU-style and TREQS-style questions answered without SQL."""

from fractions import Fraction

from tests.data_builders.ehr_mini.independent import Row, Tables, answers, greatest, present, total


def unit_stays(db: Tables, uniquepid: str) -> list[Row]:
    """The unit stays of a patient in the order of time."""
    return sorted((row for row in db.patient if row["uniquepid"] == uniquepid), key=lambda row: row["unitadmittime"])


@answers("E-I-1")
def first_ward(db, uniquepid):
    return [int(unit_stays(db, uniquepid)[0]["wardid"])]


@answers("E-I-2")
def mean_lab(db, labname, year):
    found = [row for row in db.lab if row["labname"] == labname and row["labresulttime"][:4] == year]
    return [sum(present(row["labresult"] for row in found), Fraction(0)) / len(found)]


@answers("E-II-1")
def drug_in_the_ongoing_stay(db, drugname, uniquepid):
    mine = {row["patientunitstayid"] for row in unit_stays(db, uniquepid) if not row["hospitaldischargetime"]}
    return [any(row["drugname"] == drugname and row["patientunitstayid"] in mine for row in db.medication)]


@answers("E-II-2")
def lowest_saturation(db, uniquepid):
    last = unit_stays(db, uniquepid)[-1]["patientunitstayid"]
    return [min(present(row["sao2"] for row in db.vitalperiodic if row["patientunitstayid"] == last))]


@answers("E-II-3")
def output_of_a_label(db, celllabel, uniquepid):
    mine = {row["patientunitstayid"] for row in unit_stays(db, uniquepid)}
    cells = [row for row in db.intakeoutput if "output" in row["cellpath"] and row["celllabel"] == celllabel]
    return total(row["cellvaluenumeric"] for row in cells if row["patientunitstayid"] in mine)


@answers("E-III-1")
def cost_of_stays_with(db, diagnosisname):
    units = {row["patientunitstayid"] for row in db.diagnosis if row["diagnosisname"] == diagnosisname}
    wanted = {row["patienthealthsystemstayid"] for row in db.patient if row["patientunitstayid"] in units}
    return total(row["cost"] for row in db.cost if row["patienthealthsystemstayid"] in wanted)


@answers("E-III-2")
def allergic_patients_with(db, allergyname, drugname):
    allergic = {row["patientunitstayid"] for row in db.allergy if row["allergyname"] == allergyname}
    given = {row["patientunitstayid"] for row in db.medication if row["drugname"] == drugname}
    return [len({row["uniquepid"] for row in db.patient if row["patientunitstayid"] in allergic & given})]


@answers("T-I-1")
def long_stays(db, adm, d):
    long = [row for row in db.DEMOGRAPHIC if row["ADMISSION_TYPE"] == adm and int(row["DAYS_STAY"]) > d]
    return [len({row["SUBJECT_ID"] for row in long})]


@answers("T-II-1")
def younger_with_a_procedure(db, a, title):
    done = {row["HADM_ID"] for row in db.PROCEDURES if row["SHORT_TITLE"] == title}
    return [len({row["SUBJECT_ID"] for row in db.DEMOGRAPHIC if int(row["AGE"]) < a and row["HADM_ID"] in done})]


@answers("T-II-2")
def oldest_with_an_abnormal(db, label):
    found = {row["HADM_ID"] for row in db.LAB if row["LABEL"] == label and row["FLAG"] == "abnormal"}
    return greatest(int(row["AGE"]) for row in db.DEMOGRAPHIC if row["HADM_ID"] in found)


@answers("T-III-1")
def patients_treated_with(db, title, drug):
    coded_stays = {row["HADM_ID"] for row in db.DIAGNOSES if row["SHORT_TITLE"] == title}
    given = {row["HADM_ID"] for row in db.PRESCRIPTIONS if row["DRUG"] == drug}
    return [len({row["SUBJECT_ID"] for row in db.DEMOGRAPHIC if row["HADM_ID"] in coded_stays & given})]
