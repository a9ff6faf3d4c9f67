from django.db import migrations, models


class Migration(migrations.Migration):
    """A text alone."""

    dependencies = [("accounts", "0029_index_of_copies")]

    operations = [
        migrations.AlterField(
            model_name="business",
            name="expires_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="Of a throwaway store for one check, test or trial of an app (`conformance`, `teststores`). It is in no list, and deleted afterwards.",
                null=True,
            ),
        ),
    ]
