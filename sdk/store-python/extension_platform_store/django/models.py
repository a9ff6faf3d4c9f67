"""The tables of ``Outbox``, which reads and writes them with statements of its own."""

from django.db import models


class Mark(models.Model):
    """A row of the shop that has changed and isn't pushed yet."""

    id = models.BigAutoField(primary_key=True)
    store = models.CharField(max_length=100)
    resource = models.CharField(max_length=10)
    external_id = models.CharField(max_length=100)
    quiet = models.SmallIntegerField()
    forced = models.SmallIntegerField()
    quote = models.CharField(max_length=2000)
    made_at = models.BigIntegerField()
    not_before = models.BigIntegerField()

    class Meta:
        db_table = "extension_platform_mark"
        indexes = [
            models.Index(fields=["store", "resource", "external_id"], name="extension_platform_mark_row")
        ]

    def __str__(self) -> str:
        return f"{self.resource} {self.external_id}"


class PushedRow(models.Model):
    """A row that the platform was given, and the version that it keeps; -1 for none."""

    id = models.BigAutoField(primary_key=True)
    store = models.CharField(max_length=100)
    resource = models.CharField(max_length=10)
    external_id = models.CharField(max_length=100)
    version = models.BigIntegerField()
    kept = models.BigIntegerField()
    digest = models.CharField(max_length=64)
    refused = models.TextField()

    class Meta:
        db_table = "extension_platform_row"
        constraints = [
            models.UniqueConstraint(
                fields=["store", "resource", "external_id"], name="extension_platform_row_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.resource} {self.external_id}"


class DoneCommand(models.Model):
    """A command that was carried out or refused."""

    id = models.BigAutoField(primary_key=True)
    store = models.CharField(max_length=100)
    command_id = models.CharField(max_length=100)
    status = models.SmallIntegerField()
    answer = models.TextField()
    noted_at = models.BigIntegerField()

    class Meta:
        db_table = "extension_platform_command"
        constraints = [
            models.UniqueConstraint(fields=["store", "command_id"], name="extension_platform_command_once")
        ]

    def __str__(self) -> str:
        return self.command_id


class State(models.Model):
    """What the sender knows of the platform."""

    id = models.BigAutoField(primary_key=True)
    store = models.CharField(max_length=100)
    name = models.CharField(max_length=50)
    value = models.TextField()

    class Meta:
        db_table = "extension_platform_state"
        constraints = [
            models.UniqueConstraint(fields=["store", "name"], name="extension_platform_state_once")
        ]

    def __str__(self) -> str:
        return self.name
