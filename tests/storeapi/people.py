"""People who are signed in to a connected store. Shops send them here with tickets; these tests take the session for it."""

from accounts.enums import StoreRole
from accounts.models import Business, User
from tests import factories


def person_in(business: Business, role: StoreRole) -> User:
    """One with this role. The owner's account has no way to sign in, so it gets one."""
    if role != StoreRole.OWNER:
        person = factories.merchant_without_store(f"{role.lower()}@{business.slug}.example")
        factories.staff(business, person, role)
        return person
    owner = business.owner
    owner.is_active = True
    owner.save()
    return owner
