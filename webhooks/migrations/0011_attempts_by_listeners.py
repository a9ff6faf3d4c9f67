from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [('webhooks', '0010_failing_webhooks')]

    operations = [
        migrations.AddField(
            model_name='attempt',
            name='by_listener',
            field=models.BooleanField(db_default=False, default=False, help_text="Made on the developer's machine, by the command listen."),
        ),
    ]
