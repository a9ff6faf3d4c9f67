"""A stock page, to which ours are held: a new Django project with a session, somebody who is signed in, messages, and a list of 25 rows.

As a program it answers each line that it reads with the seconds that the page took (`benchmarks.pages.StockPage`).
"""

import json
import sys
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.decorators import login_required
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import connection
from django.test import Client
from django.urls import path
from django.views.generic import ListView

from benchmarks.processes import cpu_with

PEOPLE = 1_000


application = get_wsgi_application()
User: Any = get_user_model()


class People(ListView):  # type: ignore[type-arg]  # Django's own is not generic
    template_name = "people.html"
    queryset = User.objects.order_by("-id")
    paginate_by = 25


urlpatterns = [path("", login_required(People.as_view()), name="people")]


def main() -> None:
    """First it says the cookie of its session."""
    call_command("migrate", verbosity=0)
    names = [f"person-{number}" for number in range(PEOPLE)]
    people = [User(username=name, email=f"{name}@example.com") for name in names]
    User.objects.bulk_create(people)
    client = Client()
    client.force_login(User.objects.latest("id"))
    _say({name: each.value for name, each in client.cookies.items()})
    for _ in sys.stdin:
        connection.ensure_connection()
        backend = connection.connection.info.backend_pid
        began = cpu_with(backend)
        answer = client.get("/")
        assert answer.status_code == 200
        _say(cpu_with(backend) - began)


def _say(message: Any) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
