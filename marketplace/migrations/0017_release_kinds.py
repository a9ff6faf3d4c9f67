"""Steps of releases are in the review log."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("marketplace", "0016_taken_back_at"),
    ]

    operations = [
        migrations.AlterField(
            model_name='reviewentry',
            name='kind',
            field=models.CharField(choices=[('SUBMITTED', 'Submitted for review'), ('TAKEN', 'Taken by a reviewer'), ('RELEASED', 'Put back into the queue'), ('WITHDRAWN', 'Withdrawn by the developer'), ('APPROVED', 'Approved'), ('REJECTED', 'Rejected'), ('RESTORED', 'Earlier version restored'), ('SUSPENDED', 'Suspended'), ('REINSTATED', 'Suspension lifted'), ('ADVANCED', 'Release went on to its next step'), ('HALTED', 'Release halted'), ('RESUMED', 'Release resumed'), ('TAKEN_BACK', 'Version taken back')], max_length=12),
        ),
    ]
