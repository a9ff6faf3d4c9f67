import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("conformance", "0003_weekly_sender"),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='WeeklyCheck',
            fields=[
                ('app', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('version_number', models.PositiveIntegerField(default=0)),
                ('due_at', models.DateTimeField(db_index=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0, help_text='Begun without a result.')),
                ('checked_at', models.DateTimeField(help_text='When it last had a result.', null=True)),
                ('failed_rules', models.JSONField(default=list)),
                ('accepted_rules', models.JSONField(default=list)),
                ('failing_since', models.DateTimeField(null=True)),
                ('failed_weeks', models.PositiveSmallIntegerField(default=0)),
                ('counted_at', models.DateTimeField(help_text='When a failed week was last counted.', null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('failed_weeks__gte', 3)), fields=['app'], name='weekly_check_not_passing')],
            },
        ),
    ]
