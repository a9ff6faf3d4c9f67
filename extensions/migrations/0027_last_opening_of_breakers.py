"""When a breaker opened last."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('extensions', '0026_shop_commands'),
    ]

    operations = [
        migrations.AddField(
            model_name='breaker',
            name='opened_at',
            field=models.DateTimeField(blank=True, help_text='When it opened last, after a trial call that failed, too.', null=True),
        ),
    ]
