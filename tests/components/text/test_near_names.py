from components.text.near_names import meant


def test_names_that_are_near_are_told_in_whatever_case():
    assert meant("calculater", ["Calculator", "Plan"]) == "did you mean Calculator? "
    assert meant("Chest", ["Chst", "Chests", "Limb"]) == "did you mean Chests or Chst? "


def test_nothing_is_guessed_where_nothing_is_near():
    assert meant("camera", ["echo", "other"]) == ""
    assert meant("camera", []) == ""
