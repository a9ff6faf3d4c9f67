"""Which skipped calls count as failed in a release."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('extensions', '0028_skips_of_breakers'),
    ]

    operations = [
        migrations.AddField(
            model_name='hookcall',
            name='opening_at',
            field=models.DateTimeField(blank=True, editable=False, help_text='Of a call that its breaker skipped and that counts as failed in a release: when the breaker opened.', null=True),
        ),
    ]
