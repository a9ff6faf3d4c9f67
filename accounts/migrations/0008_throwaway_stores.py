from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_deleted_accounts")]

    operations = [
        migrations.AddField(
            model_name="business",
            name="expires_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="Of a throwaway store for one check of an app (`conformance`). It is in no list, and deleted afterwards.",
                null=True,
            ),
        ),
    ]
