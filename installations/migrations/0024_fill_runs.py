"""The version that each store runs, and the scopes that it lost with a version that can still be taken back.

Until now the first followed from the app's columns, and the second was read from the history.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F

BATCH = 500
CAN_BE_TAKEN_BACK = ("ROLLING", "HALTED", "COMPLETE")


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Can run twice."""
    installations = apps.get_model("installations", "Installation").objects
    rows = installations.select_related("app").order_by("pk").defer("webhook_secret")
    last = UUID(int=0)
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        newest = _newest(apps, {each.app_id for each in batch})
        lost = _lost(apps, batch, newest)
        for each in batch:
            each.runs_id = _run_by(each)
            each.lost_scopes = lost.get(each.pk, {})
        installations.bulk_update(batch, ["runs", "lost_scopes"])
        last = batch[-1].pk


def _run_by(each: Any) -> UUID | None:
    """An ended one keeps what it ran last."""
    app, runs = each.app, each.runs_id
    if each.uninstalled_at is not None and runs is not None:
        return runs
    if app.rolling_version_id is None:
        return app.approved_version_id
    return runs if runs == app.rolling_version_id else app.earlier_version_id


def _newest(apps: Apps, of: set[UUID]) -> dict[UUID, Any]:
    """The newest release of apps, if its version can be taken back."""
    releases = apps.get_model("marketplace", "Release").objects.filter(version__app__in=of)
    newest = {each.version.app_id: each for each in releases.select_related("version").order_by("version__number")}
    return {app: each for app, each in newest.items() if each.state in CAN_BE_TAKEN_BACK}


def _lost(apps: Apps, batch: Sequence[Any], newest: dict[UUID, Any]) -> dict[UUID, dict[str, list[str]]]:
    """By installation. A later consent counts instead."""
    entries = apps.get_model("installations", "HistoryEntry").objects.filter(
        installation__in=[each.pk for each in batch], kind="SCOPES_REMOVED", at__gt=F("installation__consented_at")
    )
    found: dict[UUID, dict[str, list[str]]] = defaultdict(dict)
    app_of = {each.pk: each.app_id for each in batch}
    for pk, at, note in entries.order_by("at", "pk").values_list("installation", "at", "note"):
        release = newest.get(app_of[pk])
        if release is not None and at >= release.version.approved_at:
            version = str(release.version_id)
            found[pk][version] = [*found[pk].get(version, []), *note.split(", ")]
    return dict(found)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("installations", "0023_lost_scopes"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
