"""The demo's people and the merchant's shop, made by the services that users reach. Safe to run at every start."""

from accounts.enums import Role
from accounts.models import Business, User
from accounts.services import create_reviewer, register
from stores.sandbox import fill_store

PASSWORD = "extension-demo"  # noqa: S105  printed at every start of the demo
DEVELOPER = "developer@example.com"
MERCHANT = "merchant@example.com"
REVIEWER = "reviewer@example.com"


def seed() -> None:
    """The three sign-ins of the demo, and a merchant's shop with something on its shelves."""
    if not User.objects.filter(email=DEVELOPER).exists():
        register(email=DEVELOPER, password=PASSWORD, name="Devi Developer", role=Role.DEVELOPER)
    if not User.objects.filter(email=MERCHANT).exists():
        made = register(
            email=MERCHANT,
            password=PASSWORD,
            name="Mary Merchant",
            role=Role.MERCHANT,
            business_name="Harbour Bakery",
            business_type="Bakery",
            address="1 Harbour Street, Portside",
        )
        fill_store(business=made.business)
    if not User.objects.filter(email=REVIEWER).exists():
        create_reviewer(email=REVIEWER, name="Rae Reviewer", password=PASSWORD)


def merchants_shop() -> Business:
    """The shop that `seed` opened for the merchant."""
    shop = Business.objects.main_of(User.objects.get(email=MERCHANT))
    assert shop is not None
    return shop
