"""The count in `AppTotals`. Its row is shared by all installs of an app: call this after every other lock."""

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

from marketplace.models import App, AppTotals


@transaction.atomic(savepoint=False)
def count_installs(*, app: App, by: int) -> None:
    """Add to the number of shops that have the app. A count gone wrong must not keep anybody from uninstalling."""
    moved = {"installs": Greatest(F("installs") + by, Value(0))}
    row = AppTotals.objects.filter(app=app)
    if not row.update(**moved):
        AppTotals.objects.get_or_create(app=app)
        row.update(**moved)
