"""What operators see of deliveries."""

import pytest
from django.test import Client

from accounts.models import Business, User
from tests.webhooks.helpers import published
from webhooks.models import Attempt, Webhook


@pytest.fixture
def operator(client: Client, db: None) -> Client:
    client.force_login(User.objects.create_superuser("ops@example.com", "correct horse battery"))
    return client


@pytest.mark.parametrize("model", ["webhook", "event", "delivery"])
def test_admin_lists_and_shows_without_secrets_and_changes_nothing(
    model: str, operator: Client, webhook: Webhook, sandbox: Business
) -> None:
    delivery = published(sandbox)
    Attempt.objects.create(
        delivery=delivery,
        number=1,
        attempted_at=delivery.created_at,
        http_status=500,
        duration_ms=7,
        error_class="http_5xx",
        response_excerpt="<b>boom</b>",
    )
    row = {"webhook": webhook, "event": delivery.event, "delivery": delivery}[model]
    address = f"/admin/webhooks/{model}/"
    for page in (
        operator.get(address),
        operator.get(f"{address}?q={row.id}"),
        operator.get(f"{address}{row.id}/change/"),
    ):
        assert page.status_code == 200
        assert webhook.secret not in page.text
        assert webhook.installation.webhook_secret not in page.text
    assert ("&lt;b&gt;boom&lt;/b&gt;" in page.text) == (model == "delivery")
    assert operator.get(f"{address}add/").status_code == 403
    assert operator.post(f"{address}{row.id}/change/", {}).status_code == 403
    assert operator.post(f"{address}{row.id}/delete/", {"post": "yes"}).status_code == 403
