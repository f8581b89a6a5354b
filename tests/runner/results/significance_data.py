"""Published examples that several tests use."""

# Student 1908, "The probable error of a mean", Biometrika 6:1-25: hours of sleep gained with two drugs; R's data sleep.
SLEEP = (
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)  # fmt: skip
