"""Columns of deliveries that follow from other rows."""

from typing import Any
from uuid import UUID

from django.db import models


class DeliveryIdField(models.UUIDField):
    """Made by the row's `find_id()` when it is written without an id."""

    def get_pk_value_on_save(self, instance: models.Model) -> UUID:
        made: UUID = instance.find_id()  # type: ignore[attr-defined]
        return made


class InstallationsField(models.UUIDField):
    """A copy of a column of the webhook's installation. Rows that are written in bulk bring it along."""

    def pre_save(self, model_instance: models.Model, add: bool) -> UUID:
        row: Any = model_instance
        if getattr(row, self.attname) is None:
            setattr(row, self.attname, getattr(row.webhook.installation, self.attname))
        copied: UUID = getattr(row, self.attname)
        return copied


class EventTypeField(models.CharField):
    """A copy of the event's type. Rows that are written in bulk bring it along."""

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        row: Any = model_instance
        if not getattr(row, self.attname):
            setattr(row, self.attname, row.event.type)
        copied: str = getattr(row, self.attname)
        return copied
