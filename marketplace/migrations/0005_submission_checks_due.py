from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    dependencies = [('marketplace', '0004_review_records')]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name='submission',
            index=models.Index(condition=models.Q(('checks_due_at__isnull', False), ('status', 'PENDING_REVIEW')), fields=['checks_due_at'], name='submission_checks_due'),
        ),
    ]
