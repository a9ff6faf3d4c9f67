"""Every page is in the table of `tools.screenshots`, so that it is looked at in each look."""

import pytest

from tests.pages_table import BY_KEY, FETCHED, ROWS
from tests.wire.pages import name_at
from tools.screenshots.shots import SHOTS


@pytest.mark.long
def test_every_page_is_in_the_table_of_pictures() -> None:
    shown = {name_at(shot.path) for shot in SHOTS}
    pressed = {shot.name for shot in SHOTS}
    missing = [
        row.name
        for row in ROWS
        if row.reads and not {FETCHED, BY_KEY} & set(row.marks)
        if (row.shot not in pressed if row.shot else row.name not in shown)
    ]
    assert missing == [], "Add a row for each state of these pages to tools/screenshots/shots.py."
