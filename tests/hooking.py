"""Apps with real servers behind their hooks, installed on Mira's shop."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from accounts.models import Business, User
from extensions.hooks import skipped
from extensions.models import Breaker, Definition, HookCall
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.receivers import Answer, Receiver


@dataclass(frozen=True)
class Hooked:
    """An app, where it is installed, its hook, and the server behind it."""

    app: App
    installation: Installation
    definition: Definition
    receiver: Receiver

    @property
    def calls(self) -> list[HookCall]:
        """What the ledger has of it, the oldest first, once skipped calls are written."""
        skipped.flush()
        return list(HookCall.objects.filter(definition=self.definition).order_by("called_at", "id"))

    @property
    def call(self) -> HookCall:
        (call,) = self.calls
        return call

    @property
    def breaker(self) -> Breaker:
        return Breaker.objects.get(installation=self.installation, definition=self.definition)

    def asked(self, number: int = 0) -> dict[str, Any]:
        return orjson.loads(self.receiver.requests[number].body)


def says(answer: Any, **how: Any) -> Answer:
    return Answer(body=orjson.dumps(answer), **how)


Hooking = Callable[..., Hooked]


@pytest.fixture
def hooking(dana: User, shop: Business) -> Iterator[Hooking]:
    """Installs an approved app of Dana's with one hook: `hooking("order.validate", {"valid": True}, priority=10)`.

    The answer is an object, an `Answer`, or a status. `business` is where it is installed.
    """
    with ExitStack() as stack:

        def install(point: str, *answers: Any, business: Business | None = None, **content: Any) -> Hooked:
            receiver = stack.enter_context(Receiver())
            app = factories.app(dana, webhook_url=f"{receiver.url}base")
            factories.approve(app)
            hooked = Hooked(
                app,
                factories.installation(app, business or shop),
                factories.hook(app, point, **content),
                receiver,
            )
            if answers:
                receiver.respond_with(
                    *(each if isinstance(each, (Answer, int)) else says(each) for each in answers)
                )
            return hooked

        yield install
