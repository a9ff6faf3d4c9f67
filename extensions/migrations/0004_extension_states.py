from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('extensions', '0003_release_current_manifests'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='embedstate', name='one_state_of_an_embed'),
        migrations.RenameModel(old_name='EmbedState', new_name='ExtensionState'),
        migrations.AddConstraint(
            model_name='extensionstate',
            constraint=models.UniqueConstraint(
                fields=('installation', 'definition'), name='one_state_of_an_extension'
            ),
        ),
        migrations.AddField(
            model_name='hookpreference',
            name='most_discount',
            field=models.PositiveSmallIntegerField(
                default=100,
                help_text='The most that this app may take off an order, in per cent of the subtotal.',
            ),
        ),
    ]
