from components.files.draws import draw, draw_in_proportion, draw_split


def test_draw_depends_on_the_seed_and_keeps_the_order():
    first = draw(range(100), 10, "0/a")
    assert first == draw(range(100), 10, "0/a") == sorted(first)
    assert first != draw(range(100), 10, "1/a")


def test_all_are_drawn_where_there_are_no_more():
    assert draw("abc", None, "0") == draw("abc", 3, "0") == draw("abc", 9, "0") == ["a", "b", "c"]


def test_groups_get_their_share_by_largest_remainders():
    groups = {
        "a": [("a", n) for n in range(50)],
        "b": [("b", n) for n in range(35)],
        "c": [("c", n) for n in range(15)],
    }
    chosen = draw_in_proportion(groups, 11, "0")
    assert [len(chosen[name]) for name in "abc"] == [5, 4, 2]
    assert chosen == draw_in_proportion(groups, 11, "0") != draw_in_proportion(groups, 11, "1")
    assert draw_in_proportion(groups, None, "0") == draw_in_proportion(groups, 100, "0") == groups


def test_a_split_takes_none_of_the_test_items():
    parts = {split: draw_split(range(20), 5, "0/a", split) for split in ("test", "train")}
    assert parts["test"] == draw(range(20), 5, "0/a") and len(parts["train"]) == 5
    assert not set(parts["test"]) & set(parts["train"])
    assert draw_split("abc", None, "0", "test") == ["a", "b", "c"] and draw_split("abc", None, "0", "train") == []
