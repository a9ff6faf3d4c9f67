"""The feed: whether a reader gets all of it, and what a page costs."""

from collections.abc import Iterator
from itertools import islice
from statistics import median

from django.db import connection, transaction

from benchmarks import shelves, shops
from benchmarks.app_api import OURS, Asked, by_turns, get_requests, rounds_and_batch
from benchmarks.feed_proof import Size, Web, prove
from benchmarks.options import Options
from benchmarks.results import Goal, Row, milliseconds, paired
from benchmarks.web import free_port, serving
from webhooks.models import Event
from webhooks.services.publishing import publish

FULL = Size(writers=32, events=10_000, longest=5.0, kills=20)
QUICK = Size(writers=8, events=200, longest=1.0, kills=2)
EVENTS = 1_000
PAGE = 50


def feed_proof(options: Options) -> Iterator[Row]:
    """32 writers, 10,000 events, transactions open for up to 5 s, one reader; it and the web process killed 20 times."""
    chosen = QUICK if options.quick else FULL
    business = shops.business()
    token = next(shelves.tokens(business, 1))
    port = free_port()
    log = options.folder / "feed-proof.log"
    outcome = prove(
        business=business,
        token=token,
        port=port,
        start_web=lambda: Web(port, log),
        folder=options.folder,
        size=chosen,
    )
    yield Row(
        f"Feed: events lost or repeated, {chosen.writers} writers, {outcome.kills.total()} kills",
        f"{len(outcome.committed):,} committed",
        f"{len(outcome.read):,} read",
        outcome.missing + outcome.repeated,
        Goal(0, 0),
        doubt="" if outcome.is_in_order or outcome.missing or outcome.repeated else "read in another order",
        note=f"In {outcome.seconds:.0f} s; {outcome.overtaken:,} transactions committed after a later one; killed: "
        + ", ".join(f"{name} {times} times" for name, times in outcome.kills.items())
        + ".",
    )


def feed_page(options: Options) -> Iterator[Row]:
    """50 of 1,000 events, to the list of 50 of 1,000 products, both of the same store."""
    shop = shelves.shop(EVENTS)
    rounds, batch = rounds_and_batch(options)
    tokens = shelves.tokens(shop, 2 * (rounds + 1) * batch)
    with transaction.atomic():
        for _ in range(EVENTS):
            publish(business_id=shop.pk, event_type=shops.EVENT_TYPE, data=shops.DATA)
    shelves.tidy()
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM ANALYZE {Event._meta.db_table}")
    with serving(options.folder, "app-api", OURS) as server:
        listed, read = by_turns(
            options,
            Asked(server, lambda count: get_requests("/app-api/products", islice(tokens, count))),
            Asked(server, lambda count: get_requests(f"/app-api/events?limit={PAGE}", islice(tokens, count))),
        )
    ours, baseline = ([cost.worker for cost in costs] for costs in (read, listed))
    yield Row(
        f"CPU of a page of {PAGE} events of the feed, to a list of 50 products",
        milliseconds(median(baseline)),
        milliseconds(median(ours)),
        paired(ours, baseline),
        Goal(0.9, 0.8),
        note=f"With PostgreSQL's: {milliseconds(median(cost.all for cost in read))}.",
    )
