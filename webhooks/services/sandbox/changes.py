"""What developers change on their sandbox store to see which events it causes, and what became of those events.

Each change is made by the service that makes it in any store (`stores.services.sandbox_changes`), so everything that follows is real.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import Business, User
from common import strangers
from common.errors import Conflict, Invalid, ServiceError
from common.ids import id_at
from common.times import iso
from common.tracing import current_request_id
from installations.models import Installation
from installations.services import lifecycle
from marketplace.models import App
from stores.services import sandbox_changes
from stores.services.sandbox_changes import USUAL, Details
from webhooks import catalogue
from webhooks.enums import OPEN_ERASURES
from webhooks.models import Delivery, Erasure, Event, Webhook
from webhooks.queries import erasures_of, filtering, stopped
from webhooks.services.erasure import bring_forward
from webhooks.signals import settings_to_change

SETTINGS: Final = "settings"
BUDGET: Final = 25.0  # seconds for a scenario; hooks of apps may make each order wait


@dataclass(frozen=True, slots=True)
class SandboxChange:
    """A change on the sandbox store, and the events that it causes for certain."""

    key: str
    group: str
    title: str
    events: Sequence[str]
    change: Callable[[Installation, Details], str]


def _on_store(change: Callable[..., str]) -> Callable[[Installation, Details], str]:
    return lambda installation, asked: change(installation.business)


def _as_asked(change: Callable[..., str]) -> Callable[[Installation, Details], str]:
    return lambda installation, asked: change(installation.business, asked)


def _with_payment(change: Callable[..., str]) -> Callable[[Installation, Details], str]:
    return lambda installation, asked: change(installation.business, str(installation.app_id))


def _change_settings(installation: Installation, asked: Details) -> str:
    """As the merchant. Without settings that can be changed, the app is paused and resumed, of which it learns by the same event."""
    answers = settings_to_change.send(Installation, installation=installation, values=asked.settings)
    if any(changed for _, changed in answers):
        return "The app's settings were changed."
    owner = installation.business.owner
    lifecycle.pause(installation=installation, user=owner)
    lifecycle.resume(installation=installation, user=owner)
    return "The app has no settings to change, so it was paused and resumed."


CHANGES: Final[dict[str, SandboxChange]] = {
    act.key: act
    for act in (
        SandboxChange("order", "Orders", "Place a test order", ("order.created",), _as_asked(sandbox_changes.order)),
        SandboxChange("confirm", "Orders", "Confirm an order", ("order.status_changed",), _on_store(sandbox_changes.confirm_order)),
        SandboxChange("deliver", "Orders", "Deliver an order", ("order.status_changed", "order.delivered"), _on_store(sandbox_changes.deliver_order)),
        SandboxChange("cancel", "Orders", "Cancel an order", ("order.status_changed", "order.cancelled"), _on_store(sandbox_changes.cancel_order)),
        SandboxChange("refund", "Orders", "Refund an order", ("order.refunded",), _on_store(sandbox_changes.refund_order)),
        SandboxChange("pay", "Payments", "Take a payment", ("payment.completed",), _with_payment(sandbox_changes.complete_payment)),
        SandboxChange("expire", "Payments", "Let a payment expire", ("payment.expired",), _with_payment(sandbox_changes.let_payment_expire)),
        SandboxChange("sell_out", "Stock", "Sell out a product", ("product.out_of_stock",), _on_store(sandbox_changes.sell_out)),
        SandboxChange("run_low", "Stock", "Run low on a product", ("product.low_stock",), _on_store(sandbox_changes.run_low)),
        SandboxChange("restock", "Stock", "Restock a product", ("product.back_in_stock",), _on_store(sandbox_changes.restock)),
        SandboxChange("add_product", "Products", "Add a product", ("product.created",), _on_store(sandbox_changes.add_product)),
        SandboxChange("edit_product", "Products", "Change a price", ("product.updated",), _on_store(sandbox_changes.edit_product)),
        SandboxChange("delete_product", "Products", "Delete a product", ("product.deleted",), _on_store(sandbox_changes.remove_product)),
        SandboxChange("add_review", "Reviews", "Add a review", ("review.created",), _on_store(sandbox_changes.add_review)),
        SandboxChange("delete_review", "Reviews", "Remove a review", ("review.deleted",), _on_store(sandbox_changes.remove_review)),
        SandboxChange(SETTINGS, "Installation", "Change the settings", (catalogue.INSTALLATION_UPDATED,), _change_settings),
        SandboxChange("erase_customer", "Customers", "Erase a customer", ("customer.data_erasure",), _as_asked(sandbox_changes.erase_customer)),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scenario:
    key: str
    title: str
    about: str
    acts: Sequence[str]


SCENARIOS: Final[dict[str, Scenario]] = {
    scenario.key: scenario
    for scenario in (
        Scenario(
            "day", "A day of trading", "An order is placed, confirmed, delivered and reviewed. A product runs low, sells out "
            "and is restocked.",
            ("order", "confirm", "deliver", "add_review", "run_low", "sell_out", "restock"),
        ),
        Scenario(
            "regular", "A customer who comes again", "The same customer orders twice, and the first order is delivered.",
            ("order", "deliver", "order"),
        ),
        Scenario(
            "trouble", "Things that go wrong", "An order is cancelled, another refunded, a payment expires, a review and a product are removed.",
            ("order", "cancel", "refund", "expire", "add_review", "delete_review", "add_product", "delete_product"),
        ),
        Scenario("all", "Every event", "Each change of this page, one after the other.", tuple(CHANGES)),
    )
}  # fmt: skip


@dataclass(slots=True)
class ChangeStep:
    """What an act did. `events` are the ids of those it caused; `refused` says why it did nothing."""

    act: str
    said: str = ""
    refused: str = ""
    events: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ChangeRun:
    app: str
    title: str
    began: str
    steps: list[ChangeStep]


def play(installation: Installation, keys: Sequence[str], title: str, asked: Details = USUAL) -> ChangeRun:
    """Carry out acts on the sandbox store of an installation, until they are done or the time is up.

    Not inside a transaction. An act that a service refuses doesn't stop the others. Raises `strangers.NoPlace`
    before anything is changed, and `Invalid` for settings that the app's schema refuses.
    """
    strangers.enter(installation.app_id)
    began = timezone.now()
    since, end = id_at(began), monotonic() + BUDGET
    steps: list[ChangeStep] = []
    seen: set[UUID] = set()
    for key in keys:
        step = ChangeStep(key)
        if monotonic() > end:
            step.refused = f"Not carried out: the steps before took more than {BUDGET:.0f} seconds."
        else:
            try:
                step.said = CHANGES[key].change(installation, asked)
            except Invalid as error:
                if asked.settings is not None:
                    raise
                step.refused = error.message
            except ServiceError as error:
                step.refused = error.message
        caused = [each for each in _caused(installation, since) if each not in seen]
        seen.update(caused)
        step.events = [str(each) for each in caused]
        steps.append(step)
    return ChangeRun(str(installation.app_id), title, iso(began), steps)


def _caused(installation: Installation, since: UUID) -> list[UUID]:
    """The ids of events of this request. Events without any listener are not recorded."""
    rows = Event.objects.filter(
        business=installation.business_id, request_id=current_request_id(), id__gte=since
    )
    return list(rows.order_by("id").values_list("id", flat=True))


@dataclass(frozen=True, slots=True)
class CausedEvent:
    """An event of a step with its deliveries to the app's webhooks, and why it wasn't sent, or not to all that list it. `data` is its
    JSON text; empty without an event.
    """

    event: str
    event_id: UUID | None = None
    deliveries: Sequence[Delivery] = ()
    reason: str = ""
    data: str = ""

    @property
    def statuses(self) -> list[tuple[str, int]]:
        """Each status of the deliveries, with their number."""
        return list(Counter(delivery.status for delivery in self.deliveries).items())


@dataclass(frozen=True, slots=True)
class StepResult:
    title: str
    said: str
    refused: str
    outcomes: Sequence[CausedEvent]


def results(run: ChangeRun, installation: Installation | None) -> list[StepResult]:
    """The current state of the deliveries of a run. Three statements for any number of steps."""
    ids = [UUID(each) for step in run.steps for each in step.events]
    events = Event.objects.only("type", "data").in_bulk(ids)
    deliveries: dict[UUID, list[Delivery]] = {each: [] for each in ids}
    rows = Delivery.objects.filter(event__in=ids, webhook__installation__app=UUID(run.app))
    for delivery in rows.select_related("webhook").defer("webhook__secret").order_by("id"):
        deliveries[delivery.event_id].append(delivery)
    webhooks = filtering(installation) if installation else []
    reasons = {pk: _reason(event, deliveries[pk], installation, webhooks) for pk, event in events.items()}
    return [_result(step, events, deliveries, reasons, installation) for step in run.steps]


def _result(
    step: ChangeStep,
    events: dict[UUID, Event],
    deliveries: dict[UUID, list[Delivery]],
    reasons: dict[UUID, str],
    installation: Installation | None,
) -> StepResult:
    act = CHANGES[step.act]
    outcomes = [
        CausedEvent(events[pk].type, pk, deliveries[pk], reasons[pk], events[pk].data)
        for pk in map(UUID, step.events)
        if pk in events
    ]
    published = {outcome.event for outcome in outcomes}
    missing = [] if step.refused else [name for name in act.events if name not in published]
    outcomes += [CausedEvent(name, reason=_why_not(name, installation)) for name in missing]
    return StepResult(act.title, step.said, step.refused, outcomes)


def reason_of(event: Event, installation: Installation, deliveries: Sequence[Delivery] | int) -> str:
    """Why an event went to none of the app's webhooks, or not to all that list it. Empty if there is no reason to name."""
    return _reason(event, deliveries, installation, filtering(installation))


def _reason(
    event: Event,
    deliveries: Sequence[Delivery] | int,
    installation: Installation | None,
    webhooks: Sequence[Webhook],
) -> str:
    """`webhooks` are those with a filter. One that has a delivery was given the event before it had this filter."""
    reached = set() if isinstance(deliveries, int) else {each.webhook_id for each in deliveries}
    others = [each for each in webhooks if each.pk not in reached]
    if (
        installation
        and _holds_scope(event.type, installation)
        and (found := stopped(others, installation, event))
    ):
        return " ".join(found)
    return "" if deliveries else _why_not(event.type, installation)


def _why_not(event: str, installation: Installation | None) -> str:
    if installation is None:
        return "Not sent: the app isn't installed."
    if not _holds_scope(event, installation):
        return f"Not sent: the app lacks {catalogue.EVENTS[event].scope}."
    return "Not sent: none of the app's webhooks listens to it."


def _holds_scope(event: str, installation: Installation) -> bool:
    scope = catalogue.EVENTS[event].scope
    return scope is None or scope in installation.effective_scopes


def waiting_erasure(app: App, business: Business) -> Erasure | None:
    """The newest erasure of a sandbox store that hasn't ended."""
    return erasures_of(app).filter(installation__business=business, state__in=OPEN_ERASURES).first()


def erase_now(app: App, business: Business) -> Erasure:
    """Send `business.data_erasure` of an uninstalled app now instead of in 48 hours. Raises `Conflict` if none waits."""
    erasure = waiting_erasure(app, business)
    if erasure is None:
        raise Conflict("No data erasure of this sandbox store is waiting.", code="no_erasure")
    bring_forward(erasure=erasure)
    return erasure


@transaction.atomic
def uninstall_and_erase(app: App, business: Business, *, by: User) -> Erasure:
    """The same, also for an app that is still installed. If the erasure is refused, the app stays installed."""
    installed = Installation.objects.active().filter(app=app, business=business).first()
    if installed is not None:
        lifecycle.uninstall(installation=installed, by=by)
    return erase_now(app, business)
