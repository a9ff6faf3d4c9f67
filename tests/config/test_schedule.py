"""What beat asks workers to do."""

import re

import pytest
from django.conf import settings

from config.celery import app


@pytest.mark.parametrize("name", settings.CELERY_BEAT_SCHEDULE)
def test_worker_knows_every_task_of_the_schedule(name: str) -> None:
    app.loader.import_default_modules()
    assert settings.CELERY_BEAT_SCHEDULE[name]["task"] in app.tasks


def test_operations_guide_names_every_task_of_the_schedule() -> None:
    guide = (settings.BASE_DIR / "docs" / "operations.md").read_text()
    table = guide.split("## What the scheduler does", 1)[1].split("\n## ", 1)[0]
    documented = re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE)
    assert sorted(documented) == sorted({entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()})
