"""The rights of a person in an app are decided in one place: nothing else compares an app's developer with anybody."""

from typing import Final

import pytest

from tests.comparisons import comparisons, found_outside

NAMES: Final = ("developer", "developer_id")


@pytest.mark.long
def test_only_one_module_compares_the_developer_of_an_app() -> None:
    assert not found_outside(("marketplace/access.py", "marketplace/models"), NAMES)


def test_comparisons_are_found_however_they_are_written() -> None:
    for line in (
        "app.developer_id == user.pk",
        "user != app.developer",
        "App.objects.filter(developer=user)",
        "Call.objects.exclude(app__developer=user)",
        "Q(app__developer_id=user.pk)",
        "F('app__developer')",
        "x = user.pk if (user.pk in app.developer_id) else None",
    ):
        assert comparisons(line, NAMES) == [1], line
    assert not comparisons("App(developer=user); rows.select_related('developer')", NAMES)
