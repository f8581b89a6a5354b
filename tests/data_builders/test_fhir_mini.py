"""What ships of fhir_mini is what its builder makes."""

from data_builders.fhir_mini.__main__ import SHIPPED, build, main
from data_builders.shipped import stale


def test_shipped_files_are_current():
    assert stale(SHIPPED, build(), [""]) == []


def test_another_seed_makes_other_patients_and_the_check_sees_it(tmp_path):
    for name, content in build(7).items():
        (tmp_path / name).write_bytes(content)
    assert main(["--check"], tmp_path) == 1
