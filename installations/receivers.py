"""Receivers of other apps' signals, and of installations' own. Connected by `InstallationsConfig`."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Q
from django.dispatch import receiver
from django.template.defaultfilters import pluralize

from accounts.models import Business, User
from accounts.services.deletion import Obstacle
from accounts.signals import account_deleted, account_deletion_asked
from common.processes.background import enqueue_after_commit
from installations.enums import HistoryKind
from installations.models import Grant, Installation
from installations.queries import sandbox_installation, stores_at
from installations.services import history
from installations.services.lifecycle import uninstall
from installations.services.sandbox import end_of_review
from installations.signals import installation_created, installation_removed
from marketplace import signals as marketplace_signals
from marketplace.models import App, AppVersion, Submission, place_of
from marketplace.services.apps import count_installs


@receiver(account_deletion_asked)
def keep_apps_that_merchants_use(
    sender: Any, *, user: User, locking: bool, **kwargs: Any
) -> Sequence[Obstacle]:
    """A developer can't leave merchants alone with an app. An app that is locked can't be installed."""
    apps = App.objects.owned_by(user).live()
    if locking:
        list(Grant.objects.filter(user=user).select_for_update().values_list("pk"))
        list(App.objects.of(user).order_by("pk").select_for_update(no_key=True).values_list("pk"))
    used = Q(installations__uninstalled_at=None, installations__business__is_sandbox=False)
    counted = apps.annotate(stores=Count("installations", filter=used)).filter(stores__gt=0).order_by("name")
    return [
        Obstacle(
            title=f"{app.name} is installed in {stores:,} store{pluralize(stores)}",
            advice="Transfer it to another member, or ask the merchants to uninstall it first.",
            path=f"/portal/apps/{app.slug}/members/",
        )
        for app, stores in ((each, each.stores) for each in counted)
    ]


@receiver(account_deleted)
def end_installations(sender: Any, *, user: User, now: datetime, **kwargs: Any) -> None:
    """All apps leave the person's stores, each with its data erasure. Codes that weren't exchanged stop working."""
    for installation in (
        Installation.objects.active().filter(business__in=Business.objects.owned_by(user)).order_by("pk")
    ):
        uninstall(installation=installation, now=now)
    Grant.objects.filter(user=user).delete()


@receiver(marketplace_signals.app_deleted)
def end_test_installs(sender: Any, *, app: App, now: datetime, **kwargs: Any) -> None:
    """The installations of an app that is deleted are on sandbox stores, and end with it."""
    for installation in Installation.objects.active().filter(app=app):
        uninstall(installation=installation, now=now)


@receiver(marketplace_signals.developer_left)
def end_own_test_install(sender: Any, *, app: App, user: User, now: datetime, **kwargs: Any) -> None:
    """Converted or not, like a press on **Uninstall**. The codes for one stop working: an exchange asks again whose app it is."""
    installation = sandbox_installation(app=app, developer=user)
    if installation is not None:
        uninstall(installation=installation, by=user, now=now)


@receiver(marketplace_signals.submission_closed)
def end_reviewers_tests(sender: Any, *, submission: Submission, now: datetime, **kwargs: Any) -> None:
    """Reviewers' test installs run the submitted working copy, which the developer may edit from now on."""
    end_of_review(app=submission.app, now=now)


@receiver(installation_created)
def count_one_more(sender: Any, *, installation: Installation, **kwargs: Any) -> None:
    """Installs on sandboxes never count, and so no test install does (contract, section 9, "Apps")."""
    if not installation.business.is_sandbox:
        count_installs(app=installation.app, by=1)


@receiver(installation_removed)
def count_one_less(sender: Any, *, installation: Installation, **kwargs: Any) -> None:
    if not installation.business.is_sandbox:
        count_installs(app=installation.app, by=-1)


@receiver(marketplace_signals.app_updated)
def remember_scopes(sender: Any, *, app: App, changed: Collection[str], now: datetime, **kwargs: Any) -> None:
    """A test install follows the working copy without a consent, so only this says what its token could read, and when."""
    if "scopes" not in changed:
        return
    tests = Installation.objects.active().with_app().filter(app=app, is_test=True)
    own = [each for each in tests.defer("webhook_secret") if each.follows_working_copy]
    history.record_all(((each, HistoryKind.SCOPES_FOLLOWED, "") for each in own), at=now)


@receiver(marketplace_signals.stores_to_reach)
def places_of_stores(sender: Any, *, version: AppVersion, **kwargs: Any) -> list[int]:
    return [place_of(version.pk, pk) for pk in stores_at(version).values_list("pk", flat=True)]


@receiver(
    [
        marketplace_signals.app_approved,
        marketplace_signals.version_restored,
        marketplace_signals.release_moved,
    ]
)
def ask_to_follow(sender: Any, **kwargs: Any) -> None:
    """A worker updates the installations, because there may be many. Beat repeats a lost message within seconds."""
    enqueue_after_commit("installations.tasks.follow_approvals", expires=5.0)
