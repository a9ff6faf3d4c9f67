"""What is there when a demo starts: its people, its sample app and, at the first start, the month behind it."""

from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from config.demo.history import lead_to_no_server, order_times, write_history
from config.demo.order_bell import Credentials, connect_sample_app
from config.demo.people import seed


def begin(*, state_file: Path, url: str, now: datetime | None = None) -> Credentials | None:
    """Write it, and give what the sample app at `url` starts with; None without DEBUG, where its address would have to be HTTPS."""
    now = now or timezone.now()
    has_history = settings.DEMO_HISTORY and settings.DEBUG  # it belongs to the sample app
    is_new = seed(busy=order_times(now) if has_history else ())
    credentials = connect_sample_app(state_file=state_file, url=url) if settings.DEBUG else None
    if has_history and is_new:
        write_history(now=now)
    settings.FOOTER_NOTE = lead_to_no_server()
    return credentials
