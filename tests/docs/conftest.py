"""The folder in which commands of the documentation run."""

from pathlib import Path

import pytest

from tests.docs.pages import PAGES


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A folder with the files of all pages."""
    folder = tmp_path_factory.mktemp("desk")
    for page in PAGES:
        page.write_files(folder)
    return folder
