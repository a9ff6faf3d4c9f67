"""Defects of the delivery engine."""

from typing import Final

from tests.faults.protections import Change
from tools.soak.defects.defect import Defect

AGO: Final = 'claim(room, (seen_at := self._clock.now()) - __import__("datetime").timedelta(seconds=30), self._slot.id)'


DEFECTS: Final = {
    "a dispatcher sits on some of what it has claimed": Defect(
        "apps",
        "their lateness, at most",
        (
            Change(
                "webhooks.engine.dispatcher",
                "        self._sender.send(prepared.messages)\n",
                "        from random import random\n\n        kept = [each for each in prepared.messages if random() < 0.02]\n"
                "        threading.Timer(20.0, self._sender.send, [kept]).start()\n"
                "        self._sender.send([each for each in prepared.messages if each not in kept])\n",
            ),
        ),
    ),
    "everything is claimed late": Defect(
        "behind",
        "their lateness, p99",
        (
            Change(
                "webhooks.engine.dispatcher", "claim(room, seen_at := self._clock.now(), self._slot.id)", AGO
            ),
        ),
    ),
    "everything that an app waits for is cancelled by its uninstall": Defect(
        "behind", "deliveries cancelled by", ()
    ),
    "a dispatcher ends its process": Defect(
        "behind",
        "processes that ended by themselves",
        (
            Change(
                "webhooks.engine.dispatcher",
                "        self._hold_and_record()\n        self._free_lost_claims()\n        now = monotonic()\n",
                "        self._hold_and_record()\n        self._free_lost_claims()\n        now = monotonic()\n"
                "        if now % 40 < 0.3:\n            import os\n\n            os._exit(3)\n",
            ),
        ),
    ),
    "some requests are sent twice": Defect(
        "engine",
        "doubled, of those in flight",
        (
            Change(
                "webhooks.engine.dispatcher",
                "        self._sender.send(prepared.messages)\n",
                "        self._sender.send(prepared.messages)\n"
                "        threading.Timer(1.0, self._sender.send, [prepared.messages[::20]]).start()\n",
            ),
        ),
    ),
    "each attempt has its own body": Defect(
        "apps",
        "another body under the same id",
        (
            Change(
                "webhooks.engine.preparation",
                "    return message.compose(\n",
                "    event.occurred_at = timezone.now()\n    return message.compose(\n",
            ),
        ),
    ),
    "an answer of 500 counts as success": Defect(
        "money",
        "delivered by the database alone",
        (
            Change(
                "webhooks.engine.judging",
                "    if not exchange.succeeded:\n        due_at",
                "    if not exchange.succeeded and exchange.status != 500:\n        due_at",
            ),
        ),
    ),
    "nothing is tried again": Defect(
        "engine",
        "deliveries",
        (Change("webhooks.engine.retry", "if attempts_made > len(steps):", "if attempts_made > 0:"),),
    ),
    "an app that is installed again is sent the secret of before": Defect(
        "money",
        "webhooks without the signature of their installation",
        (
            Change(
                "webhooks.engine.preparation",
                "secret=_secret(webhook.sealed_secret),  # type: ignore[attr-defined]",
                "secret=_FIRST.setdefault((webhook.installation.app_id, webhook.installation.business_id),"
                " _secret(webhook.sealed_secret)),",
            ),
            Change(
                "webhooks.engine.preparation",
                "UNSENDABLE_FOR: Final",
                "_FIRST: dict = {}\nUNSENDABLE_FOR: Final",
            ),
        ),
    ),
    "the engine takes one erasure of two for unwanted": Defect(
        "money",
        "erasures lost",
        (
            Change(
                "webhooks.engine.preparation",
                "if not may_receive(webhook, event.type):",
                'if not may_receive(webhook, event.type) or (event.type == "business.data_erasure" and event.id.int % 2):',
            ),
        ),
    ),
    "the engine takes one event of twenty for unwanted": Defect(
        "apps",
        "events lost",
        (
            Change(
                "webhooks.engine.preparation",
                "if not may_receive(webhook, event.type):",
                "if not may_receive(webhook, event.type) or claim.delivery_id.int % 20 == 0:",
            ),
        ),
    ),
    "an error is logged now and then": Defect(
        "engine",
        "errors in the log",
        (
            Change(
                "webhooks.engine.recording",
                "    latest = _latest(results)\n",
                '    latest = _latest(results)\n    len(results) > 1 and log.error("Several at once.")\n',
            ),
        ),
    ),
    "recording holds its rows for two seconds": Defect(
        "behind",
        "statements that waited over 1 s for a lock",
        (
            Change(
                "webhooks.engine.recording",
                "    recorded = _RECORD.rows(",
                "    with transaction.atomic(), connection.cursor() as cursor:\n"
                '        cursor.execute("LOCK webhooks_endpoint IN EXCLUSIVE MODE; SELECT pg_sleep(2)")\n'
                "    recorded = _RECORD.rows(",
            ),
        ),
    ),
}
