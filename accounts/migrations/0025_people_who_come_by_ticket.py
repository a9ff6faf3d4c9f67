from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0024_clock_of_connected_stores")]

    operations = [
        migrations.AddField(
            "user",
            "comes_by_ticket",
            models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="A person of a connected store (`ShopPerson`), whom the shop signs in. No mail reaches the address.",
            ),
        ),
    ]
