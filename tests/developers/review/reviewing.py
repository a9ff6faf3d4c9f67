"""Helpers for tests of the review pages: clients, URLs and submissions."""

from typing import Any

from django.test import Client

from accounts.models import User
from marketplace.models import App, Submission
from marketplace.services import reviews

QUEUE = "/admin/marketplace/submission/"
JUDGED = {
    f"{criterion}-verdict": "PASS"
    for criterion in ("functionality", "security", "scopes", "quality", "policy")
}


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page_of(row: Submission | App, act: str = "change") -> str:
    """The URL of a submission's or an app's page, or of one of its actions."""
    return f"/admin/marketplace/{row._meta.model_name}/{row.pk}/{act}/"


def submitted(app: App, **fields: Any) -> Submission:
    return reviews.submit(app=app, developer=app.developer, **fields)


def messages_of(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]
