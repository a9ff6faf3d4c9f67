from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0025_people_who_come_by_ticket")]

    operations = [
        migrations.AlterField(
            "staff",
            "role",
            models.CharField(
                choices=[("OWNER", "Owner"), ("MANAGER", "Manager"), ("ORDERS", "Orders")], max_length=10
            ),
        ),
    ]
