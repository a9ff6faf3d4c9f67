"""What the scripts of apps serve, looked at again and again."""

from base64 import b64decode
from collections.abc import Mapping

from django.db import models
from django.utils import timezone

from common.ids import new_id
from marketplace.models import App


def matches(digests: Mapping[str, str], pin: str) -> bool:
    """Whether a browser would run content with these hashes. An address that was never seen is given the benefit of the doubt."""
    name, _, pinned = pin.partition("-")
    known = digests.get(name)
    return not known or b64decode(pinned) == bytes.fromhex(known)


class WatchedScript(models.Model):
    """The address of a script that stores run, and what it served at the last look. Changed only by `extensions.services.scripts`.

    `digests` are its hashes in hexadecimal, by their names in Subresource Integrity; empty until a look has seen it. `pins` are
    the `integrity` values of the definitions in force. `problem` says why the last look saw nothing; empty if it did.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="+", db_index=False)
    url = models.CharField(max_length=2048)
    pins = models.JSONField(default=list)
    is_in_force = models.BooleanField(default=True)
    in_force_since = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True)
    digests = models.JSONField(default=dict)
    size = models.PositiveIntegerField(null=True, help_text="In bytes.")
    changed_at = models.DateTimeField(null=True)
    is_unmatched = models.BooleanField(
        default=False, help_text="Whether a pin in force didn't match at the last look."
    )
    problem = models.CharField(max_length=200, blank=True)
    problem_since = models.DateTimeField(null=True)
    mailed_at = models.DateTimeField(null=True)  # when a mail last said that it changed
    told_unmatched = models.JSONField(default=list)  # the pins that don't match, by the last mail about pins
    pin_mails = models.JSONField(default=list)  # when the mails about pins of the last 24 hours were sent

    class Meta:
        constraints = [models.UniqueConstraint(fields=["app", "url"], name="watched_script_of_app")]
        indexes = [
            models.Index(fields=["due_at"], name="watched_script_due", condition=models.Q(is_in_force=True))
        ]

    def __str__(self) -> str:
        return self.url

    @property
    def sha256(self) -> str:
        """In hexadecimal; empty until a look has seen the script."""
        return str(self.digests.get("sha256", ""))

    @property
    def unmatched_pins(self) -> list[str]:
        """Those that the content of the last look doesn't match."""
        return [pin for pin in self.pins if not matches(self.digests, pin)]


class ScriptChange(models.Model):
    """A look that saw other bytes than the look before. Append-only; the newest of each script are kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    script = models.ForeignKey(
        WatchedScript, on_delete=models.CASCADE, related_name="changes", db_index=False
    )
    at = models.DateTimeField()
    before = models.CharField(max_length=64, help_text="SHA-256")
    after = models.CharField(max_length=64, help_text="SHA-256")
    size_before = models.PositiveIntegerField()
    size = models.PositiveIntegerField()

    class Meta:
        indexes = [models.Index("script", models.F("id").desc(), name="changes_of_script")]

    def __str__(self) -> str:
        return f"{self.script_id} changed at {self.at:%Y-%m-%d %H:%M}"
