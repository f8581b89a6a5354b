"""Versions by the names of folders are those that packages state."""

from importlib.metadata import distributions, version

from components.core.installed import version_of


def test_versions_are_those_that_packages_state():
    names = {one.metadata["Name"] for one in distributions()}
    assert {name: version_of(name) for name in names} == {name: version(name) for name in names}
    assert version_of("Typing_Extensions") == version("typing-extensions")
    assert version_of("no-such-package") is None
