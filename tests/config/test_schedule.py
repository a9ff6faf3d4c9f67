"""What beat asks workers to do."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings

from config.celery import app
from config.heartbeat import Scheduler


@pytest.mark.parametrize("name", settings.CELERY_BEAT_SCHEDULE)
def test_worker_knows_every_task_of_the_schedule(name: str) -> None:
    app.loader.import_default_modules()
    assert settings.CELERY_BEAT_SCHEDULE[name]["task"] in app.tasks


def test_operations_guide_names_every_task_of_the_schedule() -> None:
    guide = (settings.BASE_DIR / "docs" / "operations-understand.md").read_text()
    table = guide.split("## What the scheduler does", 1)[1].split("\n## ", 1)[0]
    documented = re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE)
    assert sorted(documented) == sorted({entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()})


def test_task_whose_time_passed_while_nothing_ran_is_due_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "schedule"
    file.write_bytes(b"\x00 of an earlier release")
    first = Scheduler(app, schedule_filename=str(file))
    daily, hourly = (
        first.schedule[name] for name in ("webhooks.tasks.audit_tables", "common.tasks.make_partitions")
    )
    assert not daily.is_due().is_due
    daily.last_run_at -= timedelta(days=2)
    first.sync()

    second = Scheduler(app, schedule_filename=str(file))
    assert second.schedule[daily.name].is_due().is_due
    assert second.schedule[hourly.name].last_run_at == hourly.last_run_at
    assert [each.name for each in tmp_path.iterdir()] == ["schedule"]
