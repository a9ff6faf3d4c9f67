"""Scheduled tasks (`config.schedule`)."""

from celery import shared_task

from common.db.leases import alone
from extensions.hooks import ledger, relaying
from extensions.releases import watch
from extensions.services import costs, notices, scripts
from extensions.shops import ledger as shops_ledger
from extensions.shops import telling
from marketplace.enums import ReleaseState
from marketplace.models import Release


@shared_task
def remove_old_hook_calls() -> None:
    """Delete hook calls, commands to shops and measurements of pages older than 30 days. Safe to run twice at once."""
    ledger.remove_old()
    shops_ledger.remove_old()
    relaying.remove_left_over()
    costs.remove_old()


@shared_task
def notify_merchants() -> None:
    """Mail merchants about apps that ask for more or keep failing. Safe to run twice at once."""
    notices.notify_merchants()


@shared_task
def find_scripts() -> None:
    """Compare the scripts that are watched with those that stores run. Safe to run twice at once."""
    scripts.find_scripts()


@shared_task
@alone
def look_at_scripts() -> None:
    """Fetch the scripts that are due. Servers that are slow or silent take one thread of one worker."""
    scripts.look_at_due()


@shared_task
def tell_shops() -> None:
    """Tell shops of payments that are due. Safe to run twice at once."""
    telling.tell_due()


@shared_task
def watch_releases() -> None:
    """Halt releases that are worse than the version before, and begin their next steps. Safe to run twice at once."""
    watch.look()


@shared_task
def mail_halt(version_id: str) -> None:
    """What a process of the version before sends, during an upgrade."""
    for release in Release.objects.filter(version__pk=version_id, state=ReleaseState.HALTED):
        watch.mail_halt(release)
