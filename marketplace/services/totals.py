"""The count in `AppTotals`. All installs of an app lock its row, so acquire this lock last."""

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

from marketplace.models import App, AppTotals


@transaction.atomic(savepoint=False)
def count_installs(*, app: App, by: int) -> None:
    """Add to the number of stores that have the app. It never goes below 0, so a wrong count can't block an uninstall."""
    moved = {"installs": Greatest(F("installs") + by, Value(0))}
    row = AppTotals.objects.filter(app=app)
    if not row.update(**moved):
        AppTotals.objects.get_or_create(app=app)
        row.update(**moved)
