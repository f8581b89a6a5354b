from typing import get_args

from components.cab.tasks import DIMENSIONS, TASKS, Form


def test_the_published_sizes_add_up():
    total = sum(task.size for task in TASKS.values())
    shares = {d: sum(task.size for task in TASKS.values() if task.dimension == d) / total for d in DIMENSIONS}
    assert (len(TASKS), total) == (18, 14_879)
    assert [f"{100 * shares[d]:.2f}" for d in DIMENSIONS] == ["23.39", "16.88", "24.03", "13.97", "21.72"]
    assert {task.form for task in TASKS.values()} == set(get_args(Form))
