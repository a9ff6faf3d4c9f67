"""What the admin pages of all rooms share."""

from django.db.models import Model
from django.http import HttpRequest


class ReadOnly:
    """Shows, and changes nothing."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
