"""Lines of a check-up by name."""


def line(lines, name):
    (one,) = [one for one in lines if one.name == name]
    return one
