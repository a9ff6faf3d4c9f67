"""django-webhook: its task `fire_webhook` for each delivery, which it calls after it has found who listens to a model's change.

A change of a model is sent to all that listen to the model, so no event could be for one endpoint alone: the task is called
directly. It signs by its own scheme, opens a connection for each request, and has no time limit.
"""

import json

from benchmarks.peers.programs.django_producer import body_of, main
from benchmarks.peers.programs.jobs import Job


def subscribe(number: int, url: str, secret: str) -> None:
    from django_webhook.models import Webhook, WebhookSecret

    webhook = Webhook.objects.create(id=number + 1, url=url)
    WebhookSecret.objects.create(webhook=webhook, token=secret)


def deliver(job: Job) -> None:
    from django_webhook.tasks import fire_webhook

    fire_webhook.delay(
        job["endpoint"] + 1, json.dumps(body_of(job)), topic="auth.Group/create", object_type="auth.Group"
    )


if __name__ == "__main__":
    main(subscribe, deliver)
