from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0031_latencies_in_counts'),
    ]

    operations = [
        migrations.AddField(
            model_name='webhook',
            name='filter',
            field=models.TextField(blank=True, editable=False, help_text="JSON, as the app sent it; empty: every event that it names. The app-defined webhook has the app's.", null=True),
        ),
    ]
