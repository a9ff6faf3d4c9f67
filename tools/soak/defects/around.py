"""Defects around the engine: of orders, events, apps and pages."""

from typing import Final

from tests.faults.protections import Change
from tools.soak.defects.defect import Defect

DEFECTS: Final = {
    "a snapshot names no outdated row": Defect(
        "apps",
        "rows of a connected store left different",
        (
            Change(
                "stores.connected.snapshot",
                "            outdated.append(external_id)\n",
                "            pass\n",
            ),
        ),
    ),
    "one pushed order of ten is published twice": Defect(
        "money",
        "orders of a connected store not published once",
        (
            Change(
                "stores.connected.rows",
                "            event.publish()\n            events += event.names\n",
                "            event.publish()\n            events += event.names\n"
                "            if 'order.created' in event.names and row.external_id.endswith('0'):\n                event.publish()\n",
            ),
        ),
    ),
    "one order of ten is deleted again": Defect(
        "apps",
        "orders lost",
        (
            Change(
                "stores.services.checkout",
                "        if order := _save(checkout, agreed):\n",
                "        if order := _save(checkout, agreed):\n            if order.number.endswith('0'):\n"
                "                Order.objects.filter(pk=order.pk).delete()\n",
            ),
        ),
    ),
    "idempotency keys are ignored": Defect(
        "money",
        "orders doubled",
        (
            Change(
                "common.rest.idempotency",
                "    if key is None or view.has_foreign_path():\n",
                "    if True:\n",
            ),
        ),
    ),
    "a status is answered but not saved": Defect(
        "apps",
        "orders with another status than was accepted",
        (
            Change(
                "stores.services.orders",
                '    order.save(update_fields=["status", "updated_at"])\n',
                '    order.number.endswith("5") or order.save(update_fields=["status", "updated_at"])\n',
            ),
        ),
    ),
    "orders take nothing from the stock": Defect(
        "money",
        "stock that is off",
        (
            Change(
                "stores.services.catalogue.stock",
                "    if moved:\n        _save_stock",
                "    if False:\n        _save_stock",
            ),
        ),
    ),
    "fees are a cent too high": Defect(
        "money",
        "orders whose total is not what apps answered",
        (
            Change(
                "extensions.hooks.handlers",
                'ShippingRate(int(call.answer["fee"]))',
                'ShippingRate(int(call.answer["fee"]) + 1)',
            ),
        ),
    ),
    "apps are not asked about orders": Defect(
        "money",
        "hook calls that such an order did not make",
        (Change("extensions.hooks.handlers", "        (HookPoint.VALIDATE, verdict),\n", ""),),
    ),
    "a payment is answered but not saved": Defect(
        "apps",
        "payments with another status than was accepted",
        (
            Change(
                "stores.services.payments",
                "    payment.status = status\n    payment.reference",
                "    payment.reference",
            ),
        ),
    ),
    "one event of sixteen has no deliveries": Defect(
        "money",
        "events lost",
        (
            Change(
                "webhooks.services.publishing",
                "AS found (webhook, app, endpoint, is_active, installation, filter)\n",
                "AS found (webhook, app, endpoint, is_active, installation, filter) WHERE right('{event.id}', 1) <> '0'\n",
            ),
        ),
    ),
    "an uninstall leaves webhooks as they are": Defect(
        "engine",
        "events after an uninstall",
        (
            Change(
                "webhooks.receivers",
                "    end_webhooks(installation=installation, now=now)\n",
                "    pass\n",
            ),
            Change(
                "webhooks.queries",
                "    if not installation.is_usable:\n        return False",
                "    if not installation.app.is_usable():\n        return False",
            ),
            Change(
                "webhooks.queries",
                "usable = installations.usable()",
                "usable = installations.filter(app__suspended_at=None)",
            ),
        ),
    ),
    "a webhook of another store hears an event now and then": Defect(
        "money",
        "events of a store that its app was not installed on",
        (
            Change(
                "webhooks.services.publishing",
                "            FROM ({found}) AS found",
                "            FROM (({found}) UNION (SELECT w.id, i.app_id, w.endpoint, true, i.id FROM webhooks_webhook w"
                " JOIN installations_installation i ON i.id = w.installation_id WHERE w.is_active"
                " AND random() < 0.05 AND i.uninstalled_at IS NULL LIMIT 1)) AS found",
            ),
        ),
    ),
    "erasures are due at once": Defect(
        "engine",
        "erasures that were early",
        (
            Change(
                "webhooks.services.erasure",
                "due_at = now if installation.business.copy_of_id else installation.data_erasure_at",
                "due_at = now",
            ),
        ),
    ),
    "the feed leaves events out": Defect(
        "apps",
        "events missing in the feed",
        (
            Change(
                "appapi.views.exports",
                '"data": list(map(event_payload, page.events, page.cursors())),',
                '"data": list(map(event_payload, page.events, page.cursors()))[len(page.events) > 3 :],',
            ),
        ),
    ),
    "the feed repeats the event of the cursor": Defect(
        "engine",
        "events twice in the feed",
        (
            Change(
                "appapi.views.exports",
                '"data": list(map(event_payload, page.events, page.cursors())),',
                '"data": [*map(event_payload, page.events, page.cursors()), *map(event_payload, page.events, page.cursors())],',
            ),
        ),
    ),
    "an export leaves out its newest orders": Defect(
        "apps",
        "orders missing in an export",
        (
            Change(
                "appapi.services.exports",
                "        rows = queries.orders(business).rows.iterator(chunk_size=CHUNK)",
                "        rows = queries.orders(business).rows[3:].iterator(chunk_size=CHUNK)",
            ),
        ),
    ),
    "one mail of two is forgotten": Defect(
        "apps",
        "mails to buyers, missing",
        (
            Change(
                "stores.services.order_mails",
                "    if is_mailed(order):\n        post_later(kind=PLACED",
                "    if order.number[-1] in '13579' and is_mailed(order):\n        post_later(kind=PLACED",
            ),
        ),
    ),
    "pictures are cut off": Defect(
        "apps",
        "pictures that were not served as uploaded",
        (
            Change(
                "stores.services.catalogue.pictures",
                "ContentFile(small.content), save=False)",
                "ContentFile(small.content[:-40]), save=False)",
            ),
        ),
    ),
    "a release reaches all stores with its first step": Defect(
        "apps",
        "of these, to another version",
        (
            Change(
                "installations.services.approval",
                "        return self.release.includes(row.pk) or row.is_own or self._converts(row)\n",
                "        return True\n",
            ),
        ),
    ),
    "the log of calls forgets some": Defect(
        "apps",
        "calls missing in the log of calls",
        (
            Change(
                "activity.log",
                "        if len(self._calls) < most:\n",
                "        if call.duration * 1e6 % 10 < 1:\n            return\n        if len(self._calls) < most:\n",
            ),
        ),
    ),
    "a token is written into the log": Defect(
        "apps",
        "lines of the log with a secret",
        (
            Change(
                "installations.services.lifecycle",
                "    token = new_access_token(test=installation.is_test)\n",
                "    token = new_access_token(test=installation.is_test)\n    print(token, flush=True)\n",
            ),
        ),
    ),
    "a page fails for some": Defect(
        "engine",
        "failed requests",
        (
            Change(
                "appapi.views.exports",
                "        query = self.query()\n",
                "        query = self.query()\n        assert self.installation.pk.int % 5\n",
            ),
        ),
    ),
}
