"""Events: owed to whom, and received by whom."""

from collections.abc import Iterator

from tools.soak.figures.finding import Finding, none_of, some_of
from tools.soak.ledger import Install, read_body
from tools.soak.receiver import LAME, Arrival
from tools.soak.run import Run, owed

ERASURE = "business.data_erasure"
GONE_WITHIN = 5.0  # seconds after an uninstall was answered in which what was sent before may arrive
FOLLOWED_WITHIN = (
    25.0  # seconds after it is due in which an erasure arrives, also if an app fails the first tries
)


def lost(run: Run) -> Iterator[Finding]:
    """An event that an uninstall cancelled isn't lost, but it must have been written."""
    received = {(each.webhook, *read_body(each.body)[:2]) for each in run.receiver.arrivals}
    due = {each for _, each, _ in owed(run)}
    yield some_of("events owed", len(due))
    for event in sorted({event for _, event, _ in due}):
        yield some_of(f"of these {event}", sum(each[1] == event for each in due))
    yield none_of("events lost", sorted(due - received - run.database.cancelled))


def cancelled(run: Run) -> Iterator[Finding]:
    """An uninstall cancels what waits then: retries, and what has just been written. Many would hide that nothing was sent."""
    uninstalls = [each for each in run.ledger.installs if each.gone and each.app != LAME]
    waited = [
        each
        for each in run.database.deliveries.values()
        if each.status == "CANCELLED" and each.event != ERASURE and run.app_of(each.webhook) != LAME
    ]
    limit = 5 + len(uninstalls)
    problem = f"more than {limit}: one for each, and five" if len(waited) > limit else ""
    yield Finding(f"deliveries cancelled by {len(uninstalls)} uninstalls", str(len(waited)), problem)


def strangers(run: Run) -> Iterator[Finding]:
    """An event goes to the apps of its store only."""
    wrong = []
    for each in run.receiver.arrivals:
        of_webhook = run.by_webhook.get(each.webhook)
        business = read_body(each.body)[2]["businessId"]
        if not of_webhook or {(each.app, each.business), (each.app, business)} != {
            (of_webhook[0].app, of_webhook[0].business)
        }:
            wrong.append(f"{each.event} of {each.business} at app {each.app}")
    yield none_of("events of a store that its app was not installed on", wrong)


def after_uninstall(run: Run) -> Iterator[Finding]:
    """An uninstalled app gets nothing but its erasure."""
    wrong = [
        f"{each.event} {each.at - gone:.1f} s after the uninstall"
        for each in run.receiver.arrivals
        for gone in [_gone(run, each)]
        if each.event != ERASURE and gone is not None and each.at > gone + GONE_WITHIN
        if not run.windows.excuse_delivery(gone, each.at)
    ]
    yield none_of("events after an uninstall", wrong)


def _gone(run: Run, arrival: Arrival) -> float | None:
    """When its app was uninstalled."""
    return next((each.gone for each in run.by_webhook.get(arrival.webhook, []) if each.gone), None)


def erasures(run: Run) -> Iterator[Finding]:
    """One for each uninstall, unless the app was installed again before; not early, and none to an app that is back."""
    sent = {each.webhook: each.at for each in reversed(run.receiver.arrivals) if each.event == ERASURE}
    lost, early = [], []
    expected = 0
    for install in (each for each in run.ledger.installs if each.gone):
        assert install.gone
        assert install.ended
        at, due = sent.get(install.webhook), run.clock.later(install.gone, run.erased_after)
        again = _again(run, install)
        if again is None or again.began > due + FOLLOWED_WITHIN:
            expected += 1
            if at is None:
                lost.append(f"app {install.app} at {install.business}")
        is_back = at is not None and again is not None and at > again.since + GONE_WITHIN
        if at is not None and (is_back or at < run.clock.later(install.ended, run.erased_after)):
            early.append(
                f"app {install.app} at {install.business}: {at - install.gone:.1f} s after the uninstall"
            )
    yield some_of("erasures owed", expected)
    yield none_of("erasures lost", lost)
    yield none_of("erasures that were early, or sent to an app that was back", early)


def _again(run: Run, gone: Install) -> Install | None:
    """The next installation of the same app on the same store."""
    later = [
        each
        for each in run.ledger.installs
        if (each.app, each.business) == (gone.app, gone.business) and each.since > gone.since
    ]
    return min(later, key=lambda each: each.since, default=None)


FIGURES = (lost, cancelled, strangers, after_uninstall, erasures)
