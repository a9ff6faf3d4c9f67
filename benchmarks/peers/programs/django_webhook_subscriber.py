"""django-webhook-subscriber: `send_webhooks` for each event, with an event name of its own for each endpoint.

It sends the secret itself in a header instead of a signature, opens a connection for each request, and its `timeout` is 10 s here.
"""

from typing import Any

from django_webhook_subscriber.serializers import WebhookRawPayloadMixin
from rest_framework.serializers import Serializer

from benchmarks.peers.programs.django_producer import body_of, main
from benchmarks.peers.programs.jobs import TIMEOUT, Job


class Body(WebhookRawPayloadMixin, Serializer):  # type: ignore[misc]
    def to_representation(self, instance: Any) -> Any:
        return instance.body


def subscribe(number: int, url: str, secret: str) -> None:
    from django.contrib.auth.models import Group
    from django.contrib.contenttypes.models import ContentType
    from django_webhook_subscriber.models import WebhookSubscriber, WebhookSubscription

    subscriber = WebhookSubscriber.objects.create(
        name=str(number),
        content_type=ContentType.objects.get_for_model(Group),
        target_url=url,
        secret=secret,
        serializer_class="benchmarks.peers.programs.django_webhook_subscriber.Body",
        timeout=TIMEOUT,
    )
    WebhookSubscription.objects.create(subscriber=subscriber, event_name=f"order.created.{number}")


def deliver(job: Job) -> None:
    from django.contrib.auth.models import Group
    from django_webhook_subscriber.delivery import send_webhooks

    group = Group(id=1)
    group.body = body_of(job)
    send_webhooks(group, f"order.created.{job['endpoint']}")


if __name__ == "__main__":
    main(subscribe, deliver)
