"""One request in each store."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("extensions", "0016_requests_in_release"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='reachrequest',
            constraint=models.UniqueConstraint(fields=('definition', 'version', 'in_release'), name='one_request_in_a_store'),
        ),
    ]
