from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0021_mails")]

    operations = [
        migrations.AddField(
            model_name="business",
            name="is_connected",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="A store of a `ShopSystem`: its rows are pushed by the shop (`ConnectedStore`).",
            ),
        ),
    ]
