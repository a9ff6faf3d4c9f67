"""An app's manifest: what is in force, every save of it, and what reviewers were told of it."""

from django.db import models
from django.utils import timezone

from accounts.models import User
from common.fields import JsonTextField
from common.ids import new_id
from extensions.enums import ExtensionType
from marketplace.models import App, AppVersion


class Manifest(models.Model):
    """The extension definitions of an app, as the developer saved them. No row before the first save.

    Written by `extensions.services.manifests`, with the app's row locked.
    """

    app = models.OneToOneField(App, on_delete=models.CASCADE, primary_key=True, related_name="+")
    document = JsonTextField(default=dict)
    saved_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"Manifest of {self.app_id}"


class ManifestSave(models.Model):
    """One save that changed the manifest. Append-only.

    `changes` is what the save did, as the developer API answers it: `created`, `updated` and `deactivated`, lists of
    `{type, key, id}`.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="+", db_index=False)
    document = JsonTextField()
    changes = models.JSONField()
    saved_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    saved_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index("app", models.F("id").desc(), name="manifest_history")]

    def __str__(self) -> str:
        return f"Manifest of {self.app_id}, saved {self.saved_at:%Y-%m-%d %H:%M}"


class Definition(models.Model):
    """One block, embed, hook or admin page of an app. Its id outlives saves, deactivation and return.

    `key` is its blockType, embedType, hookPoint or pageId. `content` is the definition as it was saved, with the
    defaults of the specification filled in; `extensions.definitions` reads it. One that left the manifest keeps its
    last content and is inactive. Written by `extensions.services.manifests`. The order of keys in it counts: a
    settings form has its fields in the order of the schema.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="definitions", db_index=False)
    type = models.CharField(max_length=9, choices=ExtensionType.choices)
    key = models.CharField(max_length=100)
    position = models.PositiveSmallIntegerField(help_text="Its place in the manifest's list.")
    content = JsonTextField()
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["app", "type", "position"]
        constraints = [models.UniqueConstraint(fields=["app", "type", "key"], name="definition_key_in_app")]

    def __str__(self) -> str:
        return f"{self.get_type_display()} {self.key}"


class ApprovedManifest(models.Model):
    """The manifest as it was when a version of the app was approved. Written when the approval is announced."""

    version = models.OneToOneField(AppVersion, on_delete=models.CASCADE, primary_key=True, related_name="+")
    document = JsonTextField(default=dict)

    def __str__(self) -> str:
        return f"Manifest of version {self.version_id}"


class ManifestFlag(models.Model):
    """A save after the approval that a reviewer should look at (contract section 6, "After approval").

    `reasons` are sentences. One flag for each save that adds a hook, a global script or a new host. `seen_at` is
    when a reviewer put it aside.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="+")
    save_of = models.OneToOneField(ManifestSave, on_delete=models.CASCADE, related_name="flag")
    reasons = models.JSONField()
    raised_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True, blank=True)
    seen_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        verbose_name = "change since approval"
        verbose_name_plural = "changed since approval"
        indexes = [
            models.Index(fields=["raised_at"], condition=models.Q(seen_at=None), name="manifest_flag_open")
        ]

    def __str__(self) -> str:
        return f"{self.app} changed since approval"
