"""What a store runs is read from this column alone. It keeps its name in the database, which the release before writes, too."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("installations", "0021_longer_reasons"),
        ("marketplace", "0022_no_shadow_of_submissions"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameField("installation", "followed_version", "runs"),
                migrations.AlterField(
                    model_name="installation",
                    name="runs",
                    field=models.ForeignKey(blank=True, db_column="followed_version_id", db_index=False, help_text="The approved version that the store runs; empty before the first approval. A test install may run the working copy instead.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="marketplace.appversion"),
                ),
            ],
        ),
    ]
