"""Sentences for why an event did or didn't arrive (`webhooks.services.explaining`)."""

from dataclasses import dataclass
from typing import Final

from webhooks.catalogue import EVENTS
from webhooks.services.explaining import Cause, Reason
from webhooks.services.retention import KEPT


@dataclass(frozen=True, slots=True)
class Explained:
    """A reason with its pill, its sentence, and the name of its time, such as "Uninstalled"."""

    reason: Reason
    kind: str
    icon: str
    label: str
    sentence: str
    time_name: str


# Kind, icon and label of the pill; the sentence; the name of the time.
_WORDS: Final[dict[Cause, tuple[str, str, str, str, str]]] = {
    Cause.OLDER_THAN_KEPT: ("neutral", "clock", "No longer known", f"Events and deliveries are kept for {KEPT.days} days.", ""),
    Cause.NOT_INSTALLED_YET: ("neutral", "ban", "Not installed", "The app was not installed in this store at that time.", "Installed"),
    Cause.UNINSTALLED: ("neutral", "ban", "Not installed", "The store had uninstalled the app by then.", "Uninstalled"),
    Cause.APP_SUSPENDED: ("bad", "ban", "App suspended", "The app was suspended. Nothing is sent then, and nothing is kept for later.", "Suspended"),
    Cause.SCOPE_MISSING: ("bad", "lock", "Scope missing", "The install lacks the scope {scope}, so it doesn't receive {event}.", ""),
    Cause.SCOPE_GRANTED_LATER: ("bad", "lock", "Scope missing", "The install didn't have the scope {scope} at that time.", "Granted"),
    Cause.NOTHING_HAPPENED: ("neutral", "minus", "Nothing happened", "There was no {event} in this store within 15 minutes of that time.", ""),
    Cause.NO_WEBHOOK: ("bad", "webhook", "No endpoint", "It happened, but the install had no webhook endpoint.", ""),
    Cause.REGISTERED_LATER: ("neutral", "clock", "Added later", "The endpoint was added after the event.", "Added"),
    Cause.DELETED: ("neutral", "trash-2", "Deleted", "The endpoint had been deleted by then.", "Deleted"),
    Cause.NOT_SUBSCRIBED: ("bad", "bell", "Not subscribed", "The endpoint doesn't list {event}. Edit its events.", ""),
    Cause.SWITCHED_OFF: ("bad", "pause", "Endpoint paused", "Events aren't recorded for an endpoint that the app has paused. Resume it.", ""),
    Cause.NOT_LISTENING_THEN: ("bad", "pause", "Not listening then", "At that time the endpoint was paused, or it didn't list {event}.", ""),
    Cause.HELD_DISABLED: ("warn", "power", "Held", "We disabled the endpoint because it kept failing. Enable it, then resend what is held.", ""),
    Cause.HELD_PAUSED: ("warn", "pause", "Held", "The store has paused the app. The delivery is sent when the store resumes it.", ""),
    Cause.CANCELLED: ("neutral", "ban", "Not sent", "It was cancelled before it was sent: the endpoint or the app was switched off, deleted or uninstalled.", "Cancelled"),
    Cause.WAITING: ("info", "clock", "Waiting", "It is waiting to be sent.", "Due"),
    Cause.RETRYING: ("warn", "rotate-cw", "Retrying", "Your endpoint didn't accept it. It is retried.", "Next attempt"),
    Cause.DELIVERED: ("ok", "check", "Delivered", "Your endpoint answered 2xx.", "Answered"),
    Cause.EXHAUSTED: ("bad", "circle-x", "Failed", "Your endpoint accepted no attempt.", "Last attempt"),
}  # fmt: skip


def explained(reason: Reason, event_type: str) -> Explained:
    kind, icon, label, sentence, time_name = _WORDS[reason.cause]
    scope = EVENTS[event_type].scope or ""
    filled = sentence.replace("{event}", event_type).replace("{scope}", scope)
    return Explained(reason, kind, icon, label, filled, time_name)
