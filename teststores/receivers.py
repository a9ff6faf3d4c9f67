"""Receivers of lower-level apps' signals, in the transaction of the change. Connected by `TestStoresConfig`."""

from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.models import User
from installations.models import Installation, Trial
from installations.signals import installation_created, installation_removed
from marketplace.models import App
from marketplace.signals import developer_left
from teststores import trials
from teststores.models import TestStore
from teststores.services import close


@receiver(developer_left)
def close_test_stores(sender: Any, *, app: App, user: User, now: datetime, **kwargs: Any) -> None:
    for store in TestStore.objects.open(now).filter(app=app, made_by=user):
        close(store=store, now=now)


@receiver(installation_created)
def end_trial_of_store(sender: Any, *, installation: Installation, now: datetime, **kwargs: Any) -> None:
    trials.installed_for_real(installation, now)


@receiver(installation_removed)
def end_trial_of_copy(sender: Any, *, installation: Installation, now: datetime, **kwargs: Any) -> None:
    if trial := Trial.objects.open().filter(copy=installation.business_id).first():
        trials.close(trial_id=trial.pk, now=now)
