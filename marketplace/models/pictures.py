"""Icons and screenshots of apps."""

from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import models
from django.utils import timezone

from common.ids import new_id


class Picture(models.Model):
    """An uploaded picture that was decoded successfully. It never changes; a new picture gets a new row.

    It is separate from the app, so that an approved version keeps its pictures when the working copy changes.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey("App", on_delete=models.CASCADE, related_name="pictures")
    file = models.FileField(upload_to="apps/", storage=default_storage, max_length=200)
    content_type = models.CharField(max_length=20)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.file.name or str(self.id)

    @property
    def url(self) -> str:
        return picture_url(self.id)


def picture_path(picture_id: UUID | str) -> str:
    """For our own pages, whose policy only allows pictures of their own origin."""
    return f"/media/pictures/{picture_id}"


def picture_url(picture_id: UUID | str) -> str:
    """Absolute, for APIs."""
    return settings.BASE_URL + picture_path(picture_id)
