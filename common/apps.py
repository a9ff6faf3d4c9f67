from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CommonConfig(AppConfig):
    name = "common"

    def ready(self) -> None:
        post_migrate.connect(make_partitions, sender=self)


def make_partitions(using: str, **_: Any) -> None:
    """A migrated database is ready for rows of today."""
    from common.db import partitions

    partitions.make_ahead(using=using)
