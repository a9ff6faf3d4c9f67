from django.db import migrations, models


class Migration(migrations.Migration):
    """Copies of stores, on which apps are tried."""

    dependencies = [("accounts", "0027_people_of_shops")]

    operations = [
        migrations.AddField(
            model_name="business",
            name="copy_of",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                editable=False,
                help_text="Of a throwaway store: the store that it is a copy of, on which an app is tried (`installations.Trial`).",
                null=True,
                on_delete=models.CASCADE,
                related_name="copies",
                to="accounts.business",
            ),
        ),
    ]
