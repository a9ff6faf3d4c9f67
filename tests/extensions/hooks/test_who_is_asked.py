"""Whose hooks are called: active installations of this business whose app has a Webhook URL."""

import pytest
from django.utils import timezone

from accounts.models import Business, User
from extensions.definitions import hook_address
from extensions.enums import ExtensionType
from extensions.hooks.live import hooks_at, live_hooks
from extensions.models import HookCall
from extensions.services.releases import update_live
from marketplace.models import App
from stores.hookpoints import HookPoint
from tests import factories
from tests.extensions.hooks import asking
from tests.hooking import Hooked, Hooking
from tests.receivers import Receiver

SHIPPING = "checkout.shipping_rates"


def is_asked(shop: Business, hooked: Hooked) -> bool:
    fee = asking.fee(shop)
    assert fee == (1 if hooked.receiver.requests else 350)
    assert HookCall.objects.count() == len(hooked.receiver.requests)
    return bool(hooked.receiver.requests)


@pytest.fixture
def hooked(hooking: Hooking) -> Hooked:
    return hooking(SHIPPING, {"fee": 1})


def test_installed_app_is_asked(shop: Business, hooked: Hooked) -> None:
    assert is_asked(shop, hooked)


def test_uninstalled_app_is_not_asked(shop: Business, hooked: Hooked) -> None:
    hooked.installation.uninstalled_at = timezone.now()
    hooked.installation.save()

    assert not is_asked(shop, hooked)


@pytest.mark.spec("Contract 6 After approval", "The hooks of a suspended app are off")
def test_suspended_app_is_not_asked(shop: Business, hooked: Hooked) -> None:
    App.objects.filter(pk=hooked.app.pk).update(suspended_at=timezone.now())

    assert not is_asked(shop, hooked)


def test_deleted_app_is_not_asked(shop: Business, hooked: Hooked) -> None:
    App.objects.filter(pk=hooked.app.pk).update(deleted_at=timezone.now())

    assert not is_asked(shop, hooked)


def test_hook_that_left_the_manifest_is_not_asked(shop: Business, hooked: Hooked) -> None:
    hooked.definition.is_active = False
    hooked.definition.save()
    update_live(App.objects.get(pk=hooked.definition.app_id))

    assert not is_asked(shop, hooked)


def test_hook_of_another_point_is_not_asked(shop: Business, hooking: Hooking) -> None:
    assert not is_asked(shop, hooking("order.validate", {"valid": True}))


def test_app_on_another_business_is_not_asked(shop: Business, hooking: Hooking) -> None:
    elsewhere = factories.business(factories.merchant("noor@example.com"))

    assert not is_asked(shop, hooking(SHIPPING, {"fee": 1}, business=elsewhere))


def test_app_without_a_webhook_url_is_not_asked(shop: Business, hooked: Hooked) -> None:
    assert hooked.app.approved_version
    hooked.app.approved_version.webhook_url = ""
    hooked.app.approved_version.save()

    assert not is_asked(shop, hooked)


@pytest.mark.spec(
    "Contract 3 Scopes", "A production install follows the approved Webhook URL, not the draft's"
)
def test_draft_webhook_url_does_not_count_in_a_shop(shop: Business, hooked: Hooked) -> None:
    App.objects.filter(pk=hooked.app.pk).update(webhook_url="https://draft.example.com/", name="Draft")

    assert is_asked(shop, hooked)
    assert [each.name for each in hooks_at(shop, HookPoint.SHIPPING_RATES)] == [hooked.app.name]


@pytest.fixture
def draft(dana: User) -> App:
    return factories.app(dana)


def test_test_install_follows_the_working_copy(sandbox: Business, draft: App) -> None:
    factories.hook(draft, SHIPPING)
    factories.installation(draft, sandbox)
    with Receiver() as receiver:
        App.objects.filter(pk=draft.pk).update(webhook_url=receiver.url)
        assert asking.fee(sandbox) == 350
        (request,) = receiver.requests

    assert request.target == f"/{SHIPPING}"
    assert [each.name for each in hooks_at(sandbox, HookPoint.SHIPPING_RATES)] == [draft.name]


@pytest.fixture
def own(sandbox: Business, hooking: Hooking) -> Hooked:
    """Approved, and on the sandbox store of its developer."""
    return hooking(SHIPPING, {"fee": 1}, business=sandbox)


def test_own_sandbox_asks_an_approved_app_once(sandbox: Business, own: Hooked) -> None:
    """Also one that it had agreed to before it was its developer's own."""
    own.installation.agreed_version = own.app.approved_version
    own.installation.save()

    assert is_asked(sandbox, own)
    assert len(own.receiver.requests) == 1


def test_sandbox_of_a_stranger_asks_an_approved_app(sam: User, hooked: Hooked) -> None:
    store = Business.objects.sandbox_of(sam)
    factories.installation(hooked.app, store)

    assert is_asked(store, hooked)


def test_own_sandbox_asks_no_app_that_was_uninstalled(sandbox: Business, own: Hooked) -> None:
    own.installation.uninstalled_at = timezone.now()
    own.installation.save()

    assert not is_asked(sandbox, own)


def test_own_sandbox_asks_no_hook_that_left_the_manifest(sandbox: Business, own: Hooked) -> None:
    own.definition.is_active = False
    own.definition.save()

    assert not is_asked(sandbox, own)


def test_working_copy_is_asked_by_the_own_sandbox_alone(sandbox: Business, sam: User, own: Hooked) -> None:
    assert not is_asked(Business.objects.sandbox_of(sam), own)


@pytest.mark.parametrize("is_review", [True, False])
def test_working_copy_is_asked_where_a_reviewer_tries_it(
    sam: User, hooking: Hooking, is_review: bool
) -> None:
    tried = hooking(SHIPPING, {"fee": 1})
    store = Business.objects.sandbox_of(sam)
    factories.installation(tried.app, store, is_review=is_review, agreed_version=None)

    assert is_asked(store, tried) is is_review


def test_only_hooks_of_a_manifest_are_asked(shop: Business, sandbox: Business, hooked: Hooked) -> None:
    factories.installation(hooked.app, sandbox)
    factories.definition(hooked.app, ExtensionType.BLOCK, "stars", {"blockType": "stars"})

    for store in (shop, sandbox):
        assert [each.definition_id for each in live_hooks(store)] == [hooked.definition.pk]


def test_installation_of_a_stranger_is_not_asked_for_a_sandbox(
    sandbox: Business, sam: User, hooking: Hooking
) -> None:
    app = hooking(SHIPPING, {"fee": 1}, business=Business.objects.sandbox_of(sam))

    assert not is_asked(sandbox, app)


@pytest.mark.spec("Contract 9 Manifest", "A hook's url is joined to the Webhook URL with exactly one slash")
@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://a.example", "x", "https://a.example/x"),
        ("https://a.example/", "/x", "https://a.example/x"),
        ("https://a.example/b", "x/y", "https://a.example/b/x/y"),
        ("https://a.example/b/", "//x", "https://a.example/b/x"),
        ("https://a.example/b?k=1", "x/", "https://a.example/b/x/?k=1"),
    ],
)
def test_path_is_joined(base: str, path: str, url: str) -> None:
    assert hook_address(base, path) == url
