"""Checks of the sample app and of mutants of it, on real servers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from flask import Flask

from accounts.models import Business
from conformance.enums import Outcome
from conformance.models import Run
from conformance.queries import results_of
from conformance.services.runs import check_app
from installations.models import Installation
from marketplace.models import App
from tests.conformance.mutants import MUTANTS, refuse_events
from tests.conformance.order_bell import OrderBell

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]

AT_A_TIME = 8


def failed(run: Run) -> dict[str, list[str]]:
    return {each.rule.id: each.details for each in results_of(run) if each.outcome == Outcome.FAIL}


def run_in_thread(app: App) -> Run:
    try:
        return check_app(app=app)
    finally:
        connections.close_all()


@pytest.mark.long
def test_sample_app_passes_every_rule(order_bell: OrderBell) -> None:
    run = check_app(app=order_bell())
    results = results_of(run)
    assert [(each.rule.id, each.details) for each in results if each.outcome != Outcome.PASS] == []
    assert run.status == "PASSED"
    assert (run.ended_at - run.started_at).total_seconds() < 90  # type: ignore[operator]


@pytest.mark.long
@pytest.mark.spec("Contract 19 Filters", "For checks, an event that the filter stops counts as delivered")
def test_events_that_the_filter_stops_are_not_sent(order_bell: OrderBell) -> None:
    """The app couldn't handle them, and needn't."""

    def break_orders(flask: Flask) -> None:
        refuse_events(flask, lambda event: event.event in ("order.created", "order.cancelled"), 500)

    app = order_bell(break_orders)
    assert "WH009" in failed(check_app(app=app))
    App.objects.filter(pk=app.pk).update(webhook_filter='{"all":[{"field":"stock","op":"gte","value":0}]}')
    app.refresh_from_db()
    run = check_app(app=app)
    assert failed(run) == {}
    (accepted,) = [each for each in results_of(run) if each.rule.id == "WH009"]
    stopped = "order.created: not sent, since the filter asks for stock gte 0. It counts as delivered."
    assert (accepted.outcome, stopped in accepted.details) == (Outcome.PASS, True)


@pytest.mark.slow
@pytest.mark.postgres
def test_each_mutant_breaks_its_rules_and_no_others(order_bell: OrderBell) -> None:
    """Eight side by side, each with its own store: what one does shows in no other."""
    apps = {name: order_bell(change) for name, (change, _) in MUTANTS.items()}
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        runs = dict(zip(apps, pool.map(run_in_thread, apps.values()), strict=True))
    wrong = {name: failed(run) for name, run in runs.items() if failed(run).keys() != MUTANTS[name][1]}
    assert not wrong, json.dumps(wrong, indent=2)
    assert Business.objects.filter(expires_at__isnull=False).count() == len(MUTANTS)
    for run in runs.values():
        assert set(Installation.objects.filter(business=run.store).values_list("app", flat=True)) <= {
            run.app_id
        }
        assert (run.ended_at - run.started_at).total_seconds() < 90  # type: ignore[operator]
