from django.db import models


class BackupRecord(models.Model):
    """When a backup was last taken, and when one was last restored for a try.

    Written by `deploy/pgbackrest/back-up` with psql, by `manage.py check_restored`, and by a job of those who have a provider take
    the backups (docs/operations-run.md). Read at `/metrics`.
    """

    class What(models.TextChoices):
        BACKUP = "backup"
        DRILL = "drill"

    what = models.CharField(max_length=10, primary_key=True, choices=What)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.what} at {self.at}"
