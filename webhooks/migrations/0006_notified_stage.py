import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0005_request_ids_of_events'),
    ]

    operations = [
        migrations.RenameField(
            model_name='webhook',
            old_name='told_at',
            new_name='notified_at',
        ),
        migrations.RenameField(
            model_name='webhook',
            old_name='told_stage',
            new_name='notified_stage',
        ),
        migrations.AlterField(
            model_name='webhook',
            name='notified_stage',
            field=models.PositiveSmallIntegerField(choices=[(0, 'Working'), (1, 'Failing for 24 hours'), (2, 'Failing for 48 hours'), (3, 'Disabled')], default=0, help_text='The last stage the developer was notified of.'),
        ),
        migrations.AlterField(
            model_name='dailydeliverycount',
            name='duration_ms',
            field=models.PositiveBigIntegerField(help_text='Sum over the answered attempts.'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='attempt_count',
            field=models.PositiveIntegerField(default=0, help_text='All attempts, including earlier schedules.'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='attempts_made',
            field=models.PositiveIntegerField(default=0, help_text='Attempts in the current retry schedule.'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='due_at',
            field=models.DateTimeField(help_text='The next attempt. Empty if there will be none.', null=True),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='lease_until',
            field=models.DateTimeField(help_text="Set while it is being sent: the lease's end.", null=True),
        ),
        migrations.AlterField(
            model_name='dispatcherslot',
            name='is_claiming',
            field=models.BooleanField(default=True, help_text='Off while it only finishes its open requests.'),
        ),
        migrations.AlterField(
            model_name='erasure',
            name='alarmed_at',
            field=models.DateTimeField(help_text='When operators were notified that it is overdue.', null=True),
        ),
        migrations.AlterField(
            model_name='erasure',
            name='event',
            field=models.OneToOneField(help_text='Empty after 30 days, when events are deleted.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='webhooks.event'),
        ),
        migrations.AlterField(
            model_name='erasure',
            name='state',
            field=models.CharField(choices=[('DUE', 'Due'), ('SENT', 'Sent, not confirmed yet'), ('CONFIRMED', 'Confirmed'), ('OVERDUE', 'Overdue: no attempt was confirmed'), ('CANCELLED', 'Cancelled: installed again'), ('UNADDRESSED', 'No URL to send it to')], default='DUE', max_length=11),
        ),
        migrations.AlterField(
            model_name='webhook',
            name='failing_since',
            field=models.DateTimeField(blank=True, help_text='The first failed attempt after the last success, set within a minute.', null=True),
        ),
        migrations.AlterField(
            model_name='webhook',
            name='judged_from',
            field=models.DateTimeField(blank=True, help_text="Earlier attempts don't count, for instance those to an earlier URL.", null=True),
        ),
        migrations.AlterField(
            model_name='webhook',
            name='lacks_url',
            field=models.BooleanField(default=False, help_text='Off because the app has no Webhook URL. On again once it has one.'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='held_reason',
            field=models.CharField(blank=True, choices=[('', 'The webhook was disabled automatically. Kept for recovery.'), ('paused', 'The store has paused the app. Sent when the app is resumed.')], db_default='', default='', help_text='Why it is held. Without meaning in other states.', max_length=6),
        ),
    ]
