from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("conformance", "0002_weekly_runs"),
    ]

    operations = [
        migrations.AlterField(
            model_name='run',
            name='sender',
            field=models.CharField(choices=[('PLATFORM', 'The platform'), ('WEEKLY', 'The platform, each week'), ('DEVELOPER', "The developer's command line")], max_length=12),
        ),
    ]
