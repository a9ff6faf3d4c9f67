"""Celery's part: hints to look for work now. They may be lost, repeated or late (docs/decisions/0004)."""

import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from webhooks import awake
from webhooks.dispatcher import Dispatcher

IDLE = 1.0  # seconds without work after which a dispatcher goes back to sleep
LIMIT = 60.0  # seconds after which it makes room for the next hint

stopping = threading.Event()


@shared_task
def dispatch() -> None:
    """Send what is due, unless enough dispatchers do so already."""
    with awake.place() as place:
        if place:
            Dispatcher(place=place, stop=stopping).run(idle=IDLE, limit=LIMIT)


@shared_task
def judge_webhooks() -> None:
    """Disable webhooks that have failed for too long, and tell their developers. May run twice at once."""
    from webhooks.services import disabling, telling  # which give hints by way of this module

    disabling.judge_webhooks()
    telling.tell_developers()


@worker_shutting_down.connect
def _stop_dispatching(**_: Any) -> None:
    stopping.set()
