"""An app's manifest: the current one, every save, every approved one; and what of it runs in stores."""

from django.db import models
from django.utils import timezone

from accounts.models import User
from common.db.fields import JsonTextField
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

    `changes` is what the developer API returned for it: `created`, `updated` and `deactivated`, lists of
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
    """One block, embed, hook or admin page of an app. Its id stays the same over saves, deactivation and return.

    `key` is its blockType, embedType, hookPoint or pageId. `content` is the definition as it was saved, with the
    specification's defaults filled in; `extensions.definitions` reads it. A definition that left the manifest is inactive
    and keeps its last content. Written by `extensions.services.manifests`. The order of keys matters: a settings form has
    its fields in the order of the schema.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="definitions", db_index=False)
    type = models.CharField(max_length=9, choices=ExtensionType.choices)
    key = models.CharField(max_length=100)
    position = models.PositiveSmallIntegerField(help_text="Its position in the manifest's list.")
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
    """The manifest at the approval of a version. Written when the approval is announced."""

    version = models.OneToOneField(AppVersion, on_delete=models.CASCADE, primary_key=True, related_name="+")
    document = JsonTextField(default=dict)

    def __str__(self) -> str:
        return f"Manifest of version {self.version_id}"


class LiveDefinition(models.Model):
    """A definition as it runs in stores that agreed to `version` (contract, section 6, "Reach"). No row: it doesn't run there.

    `content` is the newest that stays within the reach of that version. The developer's own sandbox store needs no rows: it
    runs `Definition.content`. Written by `extensions.services.releases`, with the app's row locked, for the current
    version and for those that an active installation agreed to.
    """

    definition = models.ForeignKey(Definition, on_delete=models.CASCADE, related_name="live", db_index=False)
    version = models.ForeignKey(AppVersion, on_delete=models.CASCADE, related_name="live_definitions")
    in_release = models.BooleanField(
        default=False,
        db_default=False,
        help_text="In the stores that an open release has reached; else in all others, which is all while none is open.",
    )
    content = JsonTextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["definition", "version", "in_release"], name="one_live_form_in_a_store"
            )
        ]

    def __str__(self) -> str:
        return f"{self.definition} for version {self.version_id}"


class ReachRequest(models.Model):
    """A definition, as approved now, that widens what stores agreed to with `version`. Their merchants are asked for it.

    Without a definition it asks about data: `content` has the arguments of `DataTerms`. Written together with `LiveDefinition`.
    """

    definition = models.ForeignKey(
        Definition,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="Empty: where the data of stores goes.",
    )
    version = models.ForeignKey(AppVersion, on_delete=models.CASCADE, related_name="reach_requests")
    in_release = models.BooleanField(default=False, db_default=False, help_text="As for `LiveDefinition`.")
    content = JsonTextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["definition", "version", "in_release"], name="one_request_in_a_store"
            )
        ]

    def __str__(self) -> str:
        return f"{self.definition or 'Data'}, asked for since version {self.version_id}"
