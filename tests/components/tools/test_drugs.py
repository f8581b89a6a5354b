from components.tools.drugbank import Drug, closest, not_found, similar_names, similarity


def test_a_drug_is_shown_as_one_object_with_the_tables_keys():
    drug = Drug("Paracétamol", state="solid", dosages=({"from": "Tablet", "route": "Oral", "strength": "500 mg"},))
    assert drug.as_json == (
        '{"name":"Paracétamol","description":null,"state":"solid","indication":null,'
        '"dosages":[{"from":"Tablet","route":"Oral","strength":"500 mg"}],"synonyms":[]}'
    )


def test_likeness_is_from_0_to_1():
    assert similarity("aspirin", "aspirin") == 1 and similarity("abc", "xyz") == 0


def test_the_closest_names_are_reported():
    names = ["Warfarin", "Heparin", "Warfarin", "Aspirin"]
    assert closest("warfrin", names, 2) == ["Warfarin", "Aspirin"]
    error = not_found("warfrin", ["Warfarin"])
    assert error.label == "not_found" and "'warfrin'" in str(error) and error.data == {"closest": ["Warfarin"]}
    assert str(not_found("x", [])) == "There is no drug called 'x'."


def test_alike_names_are_those_of_the_measure_whatever_is_left_out_first():
    names = ["metoprolol", "metformin", "omeprazole", "warfarin", "methadone", "metolazone"]
    for asked in ("metfromin", "omeprazol", "warfin", "metoprazole", "x"):
        for least in (0.0, 0.4, 0.6, 0.9):
            expected = sorted((-similarity(asked, name), name) for name in names if similarity(asked, name) >= least)
            assert similar_names(asked, names, least) == [(-score, name) for score, name in expected]
