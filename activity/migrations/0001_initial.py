import common.ids
from common.db.partitions import PartitionByTime
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('installations', '0006_ended_token_digest'),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='LogGap',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('since', models.DateTimeField()),
                ('until', models.DateTimeField()),
                ('count', models.PositiveIntegerField()),
                ('app', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ApiCall',
            fields=[
                ('id', models.UUIDField(default=common.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField(help_text='When the request came.')),
                ('token_last_four', models.CharField(blank=True, max_length=4)),
                ('method', models.CharField(max_length=16)),
                ('route', models.CharField(blank=True, help_text='The path as documented; empty for an unknown one.', max_length=120)),
                ('path', models.TextField(help_text='With the query.')),
                ('status', models.PositiveSmallIntegerField()),
                ('message', models.TextField(blank=True, help_text='Of an error.')),
                ('details', models.JSONField(help_text='Of an error: every problem of single fields.', null=True)),
                ('duration_ms', models.PositiveIntegerField()),
                ('scope', models.CharField(blank=True, help_text='What the call needs.', max_length=40)),
                ('has_scope', models.BooleanField(default=False, help_text='Whether the token had it.')),
                ('rate_limit', models.PositiveSmallIntegerField(help_text='Requests a minute.')),
                ('rate_left', models.PositiveSmallIntegerField()),
                ('rate_reset', models.PositiveBigIntegerField(help_text="The end of the rate limit's window, in Unix seconds.")),
                ('idempotency_key', models.CharField(blank=True, max_length=255)),
                ('request_body', models.TextField(blank=True)),
                ('response_body', models.TextField(blank=True)),
                ('trace_id', models.UUIDField(help_text='Of the trace that the caller named; empty where it is the request id.', null=True)),
                ('app', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('installation', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='installations.installation')),
            ],
            options={
                'indexes': [models.Index(models.F('app'), models.OrderBy(models.F('at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='api_call_of_app'), models.Index(models.F('installation'), models.OrderBy(models.F('at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='api_call_of_installation'), models.Index(models.F('trace_id'), condition=models.Q(('trace_id__isnull', False)), name='api_call_in_trace')],
            },
        ),
        migrations.CreateModel(
            name='ScopeUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scope', models.CharField(max_length=40)),
                ('route', models.CharField(help_text='Method and documented path.', max_length=140)),
                ('day', models.DateField(db_index=True)),
                ('count', models.PositiveBigIntegerField()),
                ('app', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('app', 'scope', 'route', 'day'), name='one_count_of_scope_use')],
            },
        ),
        PartitionByTime('ApiCall'),
    ]
