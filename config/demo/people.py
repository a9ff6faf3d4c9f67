"""The demo's people and the merchant's store, created by the same services that users reach. Safe to run at every start."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import Permission
from django.core.files import File

from accounts.enums import Role
from accounts.models import Business, User
from accounts.services import create_reviewer, register
from accounts.services.confirmation import confirm
from stores.models import StorePicture, StoreSettings
from stores.samples.store import fill_store
from stores.services.catalogue.pictures import decode, save_picture

PASSWORD = "extension-demo"  # noqa: S105  the demo prints it at every start
DEVELOPER = "developer@example.com"
MERCHANT = "merchant@example.com"
REVIEWER = "reviewer@example.com"


def seed(*, busy: Sequence[datetime] = ()) -> bool:
    """The three sign-ins of the demo, with confirmed addresses, and a merchant's store with products.

    `busy` are times of further orders there. Returns whether the store is new.
    """
    is_new = not User.objects.filter(email=MERCHANT).exists()
    if not User.objects.filter(email=DEVELOPER).exists():
        register(email=DEVELOPER, password=PASSWORD, name="Devi Developer", role=Role.DEVELOPER)
    if is_new:
        made = register(
            email=MERCHANT,
            password=PASSWORD,
            name="Mary Merchant",
            role=Role.MERCHANT,
            business_name="Harbour Bakery",
            business_type="Bakery",
            address="1 Harbour Street, Portside",
        )
        fill_store(business=made.business, busy=busy)
        dress_store(made.business)
    if not User.objects.filter(email=REVIEWER).exists():
        reviewer = create_reviewer(email=REVIEWER, name="Rae Reviewer", password=PASSWORD)
        reviewer.user_permissions.add(Permission.objects.get(codename="view_mail"))
    for person in User.objects.filter(email__in=[DEVELOPER, MERCHANT, REVIEWER]):
        confirm(user=person)
    return is_new


def dress_store(business: Business) -> None:
    """The large picture of the bakery's home page."""
    with (settings.BASE_DIR / "static/vendor/sample-products/hero.webp").open("rb") as file:
        decoded = decode(File(file))
    row = StorePicture(business=business, alt="A basket of bread, with a croissant and butter beside it")
    StoreSettings.objects.filter(business=business).update(hero_picture=save_picture(row, decoded))


def merchants_shop() -> Business:
    """The store that `seed` opened for the merchant."""
    shop = Business.objects.main_of(User.objects.get(email=MERCHANT))
    assert shop is not None
    return shop
