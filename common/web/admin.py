"""Shared parts of admin pages."""

from django.db.models import Model
from django.http import HttpRequest


class ReadOnly:
    """An admin page without add, change and delete."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
