from components.text.words import meant, replaced, stands_in


def test_words_are_swapped_whole_and_once():
    assert replaced("A cat, a CAT and catalogues", {"cat": "dog", "dog": "cow"}) == "A dog, a dog and catalogues"
    assert replaced("same", {}) == "same" == replaced("same", {" ": "x"})


def test_a_value_stands_in_a_text_as_whole_words():
    assert stands_in("14 mm", "It is 14 MM wide") and not stands_in("4 mm", "14 mm") and not stands_in("", "x")


def test_similar_names_are_suggested_in_any_case():
    assert meant("calculater", ["Calculator", "Plan"]) == "did you mean Calculator? "
    assert meant("clinic-1", [f"clinic-{n:02}" for n in range(1, 19)]).startswith("did you mean clinic-01 or ")
    assert meant("Chest", ["Chst", "Chests", "Limb"]) == "did you mean Chests or Chst? "


def test_nothing_is_suggested_where_nothing_is_similar():
    assert meant("camera", ["echo", "other"]) == ""
    assert meant("camera", []) == ""
