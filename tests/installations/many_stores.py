"""What stores show, ask and send while an app's release goes on, as any process sees it.

`python -m tests.installations.many_stores` prints it as JSON.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from typing import Any

import django

from tests.faults.processes import ROOT, database_url

Seen = dict[str, dict[str, Any]]


def seen_in_stores(*only: str) -> Seen:
    """By the store's slug, of all stores or only of some: where its deliveries go, which hooks are asked, what is on its pages, and
    its first page: the app's versions that it names, and its hash.
    """
    from extensions.hooks.live import hooks_at
    from extensions.queries import running_definitions, running_installations
    from installations.models import with_versions
    from stores.hookpoints import HookPoint
    from tests.storefront.shopping import Shopper
    from webhooks.models import Webhook
    from webhooks.queries import destination

    found: Seen = {}
    rows = Webhook.objects.select_related(*with_versions("installation__"), "installation__business")
    if only:
        rows = rows.filter(installation__business__slug__in=only)
    for webhook in rows.order_by("installation"):
        assert webhook.installation
        store = webhook.installation.business
        run, page = running_definitions(running_installations(store)), Shopper(store).see("")
        found[store.slug] = {
            "delivery": destination(webhook),
            "hooks": [[each.url, each.timeout] for each in hooks_at(store, HookPoint.DISCOUNTS)],
            "definitions": {each.key: each.content for of_app in run.values() for each in of_app},
            "page": [
                *sorted(set(re.findall(r"https://stars\.example\.com/v\d", page))),
                hashlib.sha256(page.encode()).hexdigest(),
            ],
        }
    return found


def seen_by_another_process() -> Seen:
    """On the test's database, with hashes of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.installations.many_stores"],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "tests.settings"},
        check=True,
        capture_output=True,
    )
    found: Seen = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    django.setup()
    print(json.dumps(seen_in_stores()))
