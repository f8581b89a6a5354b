from components.files.seeded_draw import drawn, drawn_in_proportion


def test_draw_depends_on_the_seed_and_keeps_the_order():
    first = drawn(range(100), 10, "0/a")
    assert first == drawn(range(100), 10, "0/a") == sorted(first)
    assert first != drawn(range(100), 10, "1/a")


def test_all_are_drawn_where_there_are_no_more():
    assert drawn("abc", None, "0") == drawn("abc", 3, "0") == drawn("abc", 9, "0") == ["a", "b", "c"]


def test_groups_get_their_share_by_largest_remainders():
    groups = {
        "a": [("a", n) for n in range(50)],
        "b": [("b", n) for n in range(35)],
        "c": [("c", n) for n in range(15)],
    }
    chosen = drawn_in_proportion(groups, 11, "0")
    assert [sum(name == group for name, _ in chosen) for group in "abc"] == [5, 4, 2]
    assert chosen == drawn_in_proportion(groups, 11, "0") != drawn_in_proportion(groups, 11, "1")
    assert len(drawn_in_proportion(groups, None, "0")) == len(drawn_in_proportion(groups, 100, "0")) == 100
