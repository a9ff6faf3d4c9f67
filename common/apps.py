from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CommonConfig(AppConfig):
    name = "common"
    verbose_name = "Operation"

    def ready(self) -> None:
        from common.db import folding

        post_migrate.connect(make_partitions)
        folding.register()


def make_partitions(sender: AppConfig, using: str, **_: Any) -> None:
    """A migrated database is ready for rows of today."""
    from common.db import partitions

    own = [model for model in partitions.partitioned_models() if model._meta.app_label == sender.label]
    if own:
        partitions.make_ahead(*own, using=using)
