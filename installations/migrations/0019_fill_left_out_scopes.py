"""Where an app named scopes, the others of the version that was newest at the consent count as left out."""

from collections import defaultdict
from typing import Any
from uuid import UUID

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

BATCH = 500


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Can run twice."""
    installations = apps.get_model("installations", "Installation").objects
    named = installations.filter(uninstalled_at=None, narrowed_scopes__isnull=False).order_by("pk")
    rows = named.only("app_id", "narrowed_scopes", "consented_at")
    last = UUID(int=0)
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        versions = _versions(apps, {each.app_id for each in batch})
        for each in batch:
            each.left_out_scopes = _left_out(each, versions[each.app_id])
        installations.bulk_update(batch, ["left_out_scopes"])
        last = batch[-1].pk


def _versions(apps: Apps, of: set[UUID]) -> dict[UUID, list[tuple[Any, ...]]]:
    """The approved versions of apps, newest first: when, and their scopes."""
    found = defaultdict(list)
    versions = apps.get_model("marketplace", "AppVersion").objects.filter(app__in=of).order_by("-number")
    for app, *version in versions.values_list("app_id", "approved_at", "scopes"):
        found[app].append(tuple(version))
    return found


def _left_out(installation: Any, versions: list[tuple[Any, ...]]) -> list[str]:
    offered = next((scopes for at, scopes in versions if at <= installation.consented_at), [])
    return [scope for scope in offered if scope not in installation.narrowed_scopes]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("installations", "0018_left_out_scopes"),
        ("marketplace", "0018_releases"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
