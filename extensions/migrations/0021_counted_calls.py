"""Sums of the calls of releases."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('extensions', '0020_shadow_calls'),
        ('marketplace', '0020_shadow_of_submissions'),
    ]

    operations = [
        migrations.CreateModel(
            name='CountedCalls',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('since', models.DateTimeField()),
                ('until', models.DateTimeField()),
                ('new', models.JSONField()),
                ('old', models.JSONField()),
                ('release', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='marketplace.release')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('release', 'since'), name='counted_calls_since')],
            },
        ),
    ]
