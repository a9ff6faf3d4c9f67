"""Latencies beside the figures of a day. The other field, which only says more, comes first: the table is locked by the new column."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0030_retrying_in_counts'),
    ]

    operations = [
        migrations.AlterField(
            model_name='dailydeliverycount',
            name='hours',
            field=models.JSONField(db_default={}, default=dict, help_text='The five figures and the latencies of each UTC hour that has any, by its number from 0 to 23.'),
        ),
        migrations.AddField(
            model_name='dailydeliverycount',
            name='latencies',
            field=models.JSONField(db_default={}, default=dict, help_text='How many of the answered attempts took so many milliseconds, in the steps of `counting.STEPS`.'),
        ),
    ]
