"""django-webhook2: as django-webhook, from which it was forked, with the row of an event that it writes before it queues the task.

It signs by its own scheme, opens a connection for each request, and waits 10 s for an answer.
"""

import json

from benchmarks.peers.programs.django_producer import body_of, main
from benchmarks.peers.programs.django_webhook import subscribe
from benchmarks.peers.programs.jobs import ENDPOINTS, Job


def deliver(job: Job) -> None:
    from celery import states
    from django_webhook.models import WebhookEvent
    from django_webhook.tasks import fire_webhook

    body = body_of(job)
    names = {"topic": "auth.Group/create", "object_type": "auth.Group"}
    event = WebhookEvent.objects.create(
        webhook_id=job["endpoint"] + 1,
        event_id=job["id"],
        object=body,
        status=states.PENDING,
        url=ENDPOINTS[job["endpoint"]]["url"],
        **names,
    )
    fire_webhook.delay(job["endpoint"] + 1, json.dumps(body), webhook_event_id=event.id, **names)


if __name__ == "__main__":
    main(subscribe, deliver)
