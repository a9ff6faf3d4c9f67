"""Which task runs when. docs/operations-understand.md describes each.

A task that waited for a worker until the next one is due expires: that one does its work. None expires within a minute: a worker
whose clock is ahead by less does them all.
"""

from typing import Any, Final

from celery.schedules import crontab

LEAST_LIFE: Final = 60.0  # seconds
# Seconds from one run to the next.
PERIODS: Final = {
    "webhooks.tasks.dispatch": 1.0,
    "installations.tasks.follow_approvals": 5.0,  # promised within 10 s
    "extensions.tasks.tell_shops": 5.0,
    "extensions.tasks.watch_releases": 10.0,  # a step ends within 15 s
    "accounts.tasks.send_mails": 10.0,
    "stores.tasks.mail_merchants": 10.0,
    "webhooks.tasks.follow_erasures": 10.0,
    "stores.tasks.remove_ended_stores": 20.0,  # gone within a minute
    "stores.tasks.look_at_pages": 20.0,  # new ones of shops, and each once a day
    "teststores.tasks.make_copies": 10.0,  # those whose message was lost
    "teststores.tasks.end_trials": 20.0,
    "stores.tasks.expire_payments": 20.0,  # EXPIRED is promised within 60 s
    "conformance.tasks.remove_ended_checks": 30.0,
    "developers.review.tasks.check_submissions": 30.0,
    "extensions.tasks.notify_merchants": 30.0,
    "appapi.tasks.make_exports": 60.0,  # those whose message was lost, or whose worker died
    "conformance.tasks.check_listed_apps": 60.0,
    "extensions.tasks.look_at_scripts": 60.0,
    "stores.tasks.sweep_erased_customers": 60.0,
    "webhooks.tasks.judge_webhooks": 60.0,
    "stores.tasks.send_waiting_mails": 300.0,
}
# The minute of each hour.
HOURLY: Final = {
    "webhooks.tasks.count_deliveries": 7,
    "stores.tasks.complete_keys_of_customers": 12,
    "stores.tasks.remove_records_of_deleted_stores": 17,
    "stores.tasks.remove_old_mentions": 42,
    "appapi.tasks.delete_expired_idempotency_keys": 22,
    "common.tasks.make_partitions": 27,
    "appapi.tasks.delete_expired_exports": 32,
    "webhooks.tasks.remove_old_deliveries": 37,
    "extensions.tasks.remove_old_hook_calls": 47,
    "extensions.tasks.find_scripts": 52,
    "activity.tasks.remove_old_calls": 57,
}
# Hour and minute of each day, in UTC.
DAILY: Final = {
    "stores.tasks.remove_stray_pictures": (3, 12),
    "stores.tasks.recount_totals": (3, 17),
    "stores.tasks.remove_old_carts": (3, 27),
    "accounts.tasks.remove_ended_sign_ins": (3, 37),
    "installations.tasks.remove_old_grants": (3, 47),
    "accounts.tasks.remove_old_security_events": (3, 57),
    "accounts.tasks.complete_email_keys": (4, 2),
    "webhooks.tasks.audit_tables": (4, 7),
}


def _entry(task: str, schedule: float | crontab, expires: float) -> tuple[str, dict[str, Any]]:
    return task, {"task": task, "schedule": schedule, "options": {"expires": expires}}


# In the form of Celery's setting `beat_schedule`.
SCHEDULE: Final = dict(
    [
        *(_entry(task, seconds, max(LEAST_LIFE, seconds)) for task, seconds in PERIODS.items()),
        *(_entry(task, crontab(minute=minute), 1800.0) for task, minute in HOURLY.items()),
        *(_entry(task, crontab(minute=minute, hour=hour), 3600.0) for task, (hour, minute) in DAILY.items()),
    ]
)
