from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("extensions", "0005_request_ids_of_hook_calls")]

    operations = [
        migrations.AddField(
            model_name="hookcall",
            name="request_body",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="The beginning of the request body, on sandbox stores only.",
            ),
        ),
    ]
