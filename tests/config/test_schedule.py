"""What beat asks workers to do."""

import pytest
from django.conf import settings

from config.celery import app


@pytest.mark.parametrize("name", settings.CELERY_BEAT_SCHEDULE)
def test_worker_knows_every_task_of_the_schedule(name: str) -> None:
    app.loader.import_default_modules()
    assert settings.CELERY_BEAT_SCHEDULE[name]["task"] in app.tasks
