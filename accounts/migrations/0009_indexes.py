"""What finds deleted accounts and throwaway stores. A throwaway store is none of the sandboxes of which an owner has one."""

from django.db import migrations, models

from common.db.operations import AddIndexConcurrently, AddUniqueConcurrently


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_throwaway_stores")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name="user",
            index=models.Index(
                condition=models.Q(("deleted_at__isnull", False)),
                fields=["deleted_at"],
                name="person_deleted",
            ),
        ),
        AddIndexConcurrently(
            model_name="business",
            index=models.Index(
                condition=models.Q(("expires_at__isnull", False)),
                fields=["expires_at"],
                name="business_expiring",
            ),
        ),
        AddUniqueConcurrently(
            model_name="business",
            constraint=models.UniqueConstraint(
                condition=models.Q(("expires_at", None), ("is_sandbox", True)),
                fields=("owner",),
                name="one_lasting_sandbox",
            ),
        ),
    ]
