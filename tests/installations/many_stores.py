"""What stores show, ask and send while an app's release goes on, as any process sees it.

`python -m tests.installations.many_stores SLUG…` prints it as JSON; of the stores with these slugs, a page is opened.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import django

from tests.faults.processes import ROOT, database_url

Seen = dict[str, dict[str, Any]]


def seen_in_stores(opened: Iterable[str], *only: str) -> Seen:
    """By the store's slug, of all stores or only of some: where its deliveries go, which hooks are asked, what is on its pages; of
    the opened ones, its first page itself.
    """
    from extensions.hooks.live import live_hooks
    from extensions.queries import running_definitions, running_installations
    from installations.models import Installation, with_versions
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
        run = running_definitions(running_installations(store))
        found[store.slug] = {
            "delivery": destination(webhook),
            "hooks": [[each.url, each.timeout] for each in live_hooks(store, HookPoint.DISCOUNTS)],
            "definitions": {each.key: each.content for of_app in run.values() for each in of_app},
        }
    for each in Installation.objects.filter(business__slug__in=opened).select_related("business"):
        found[each.business.slug]["page"] = Shopper(each.business).see("")
    return found


def seen_by_another_process(opened: Iterable[str]) -> Seen:
    """On the test's database, with hashes of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.installations.many_stores", *opened],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "tests.settings"},
        check=True,
        capture_output=True,
    )
    found: Seen = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    django.setup()
    print(json.dumps(seen_in_stores(sys.argv[1:])))
