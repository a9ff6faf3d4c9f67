"""Rows for tests, made plainly: what a test does not name has a dull, valid value."""

from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.contrib.auth.hashers import make_password
from django.core.files.base import ContentFile
from django.utils import timezone

from accounts.enums import Role, StoreRole
from accounts.models import Business, Staff, User
from appapi.models import Export, ExportResource, ExportStatus
from appapi.services.exports import files as export_files
from common.secrets import digest, last_four, new_access_token, new_webhook_secret
from extensions.enums import ExtensionType
from extensions.models import ApprovedManifest, Definition, LiveDefinition
from extensions.queries import manifest_document
from installations.models import Installation
from marketplace.enums import AppRole, AppStatus, ReviewKind, SubmissionStatus
from marketplace.models import FROZEN_FIELDS, App, AppVersion, Membership, ReviewEntry, Submission
from marketplace.queries import scope_changes
from marketplace.scopes import SCOPES
from stores.models import Order, Payment, Product, StoreTotals
from stores.services.pricing import OrderLine, OrderRequest

PASSWORD = "correct horse battery"

_number = count(1)


def developer(email: str, **fields: Any) -> User:
    """A developer with an empty sandbox."""
    user = _user(email, Role.DEVELOPER, fields)
    business(user, name=f"{user.name}'s sandbox", is_sandbox=True)
    return user


def merchant(email: str, **fields: Any) -> User:
    """A merchant with an empty shop."""
    user = _user(email, Role.MERCHANT, fields)
    business(user, name=f"{user.name}'s shop")
    return user


def merchant_without_store(email: str, **fields: Any) -> User:
    """Such as who was invited to somebody else's."""
    return _user(email, Role.MERCHANT, fields)


def reviewer(email: str = "rita@example.com", **fields: Any) -> User:
    """A member of the staff; the one who has the address already, where there is one."""
    found = User.objects.filter(email=email).first()
    return found or _user(email, Role.REVIEWER, {"name": "Rita", "is_staff": True} | fields)


def _user(email: str, role: Role, fields: dict[str, Any]) -> User:
    # One round of hashing: the strength of a test's password is of no use to anybody.
    password = make_password(fields.pop("password", PASSWORD), hasher="pbkdf2_random_secret")
    return User.objects.create(email=email, role=role, password=password, **{"name": email, **fields})


def business(owner: User, **fields: Any) -> Business:
    number = next(_number)
    made = Business.objects.create(
        owner=owner, **{"name": f"Shop {number}", "slug": f"shop-{number}", **fields}
    )
    StoreTotals.objects.create(business=made)
    return made


def product(business: Business, **fields: Any) -> Product:
    """An available product at 12.50, with stock that is not tracked."""
    number = next(_number)
    defaults = {"name": f"Product {number}", "slug": f"product-{number}", "price": 1250, "category": "Things"}
    made = Product.objects.create(business=business, **(defaults | fields))
    totals = StoreTotals.objects.get(business=business)
    totals.products += 1
    totals.save()
    return made


def order(business: Business, **fields: Any) -> Order:
    """A pending order without lines, of 20.00."""
    number = next(_number)
    defaults = {
        "number": str(1000 + number),
        "subtotal": 2000,
        "amount": 2000,
        "currency": business.currency,
        "delivery_method": "PICKUP",
        "payment_method": "CASH",
        "customer_name": "Kim",
        "customer_email": "kim@example.com",
    }
    made = Order.objects.create(business=business, **(defaults | fields))
    totals = StoreTotals.objects.get(business=business)
    totals.orders += 1
    totals.save()
    return made


def payment(order: Order, **fields: Any) -> Payment:
    """A payment that an app has created and that is not settled yet."""
    return Payment.objects.create(order=order, **({"provider": "app"} | fields))


def order_request(*lines: tuple[Product, int], **fields: Any) -> OrderRequest:
    """Kim picks up what is named and pays cash: `order_request((bread, 2))`."""
    defaults = {
        "items": [OrderLine(product.pk, quantity) for product, quantity in lines],
        "customer_name": "Kim",
        "customer_email": "kim@example.com",
        "delivery_method": "PICKUP",
        "payment_method": "CASH",
    }
    return OrderRequest(**(defaults | fields))


def app(developer: User, **fields: Any) -> App:
    """A draft with every scope, a Redirect URL and no Webhook URL."""
    number = next(_number)
    defaults = {
        "name": f"App {number}",
        "slug": f"app-{number}",
        "description": "Does one thing well.",
        "category": "other",
        "scopes": list(SCOPES),
        "redirect_url": "https://app.example.com/callback",
    }
    return App.objects.create(developer=developer, **(defaults | fields))


def submit(app: App, **fields: Any) -> Submission:
    """The state that `services.reviews.submit` leaves behind: held by no reviewer."""
    app.status = AppStatus.PENDING_REVIEW
    app.save(update_fields=["status"])
    made = Submission.objects.create(app=app, **({"version": app.version} | scope_changes(app) | fields))
    _log(made, ReviewKind.SUBMITTED, app.developer, made.submitted_at)
    return made


def approve(app: App, **fields: Any) -> AppVersion:
    """The state that `services.reviews.approve` leaves behind, of what is in review or submitted for it.

    `fields` differ in the approved version. No signal is sent: nothing follows from it.
    """
    submission = app.submissions.filter(status=SubmissionStatus.PENDING_REVIEW).first() or submit(app)
    frozen = {name: getattr(app, name) for name in FROZEN_FIELDS} | {
        "scope_reason": submission.scope_reason,
        "developer_name": app.developer.name,
    }
    version = AppVersion.objects.create(app=app, number=app.versions.count() + 1, **(frozen | fields))
    app.status, app.approved_version = AppStatus.APPROVED, version
    app.save(update_fields=["status", "approved_version"])
    Installation.objects.active().filter(app=app).update(runs=version)
    submission.status, submission.approved_version = SubmissionStatus.APPROVED, version
    submission.reviewer = submission.reviewer or reviewer()
    submission.decided_at = version.approved_at
    submission.save()
    _log(submission, ReviewKind.APPROVED, submission.reviewer, version.approved_at)
    _release(version)
    return version


def _release(version: AppVersion) -> None:
    """The manifest is kept with the version, and stores that agreed to it run every active definition."""
    app = version.app
    ApprovedManifest.objects.create(version=version, document=manifest_document(app))
    LiveDefinition.objects.bulk_create(
        LiveDefinition(definition=each, version=version, content=each.content)
        for each in Definition.objects.filter(app=app, is_active=True)
    )


def _log(submission: Submission, kind: ReviewKind, actor: User, at: datetime) -> None:
    ReviewEntry.objects.create(app=submission.app, submission=submission, kind=kind, actor=actor, at=at)


def installation(app: App, business: Business, **fields: Any) -> Installation:
    """An installation whose token is on the object, as `raw_token`; a test install on a sandbox."""
    is_test = fields.pop("is_test", business.is_sandbox)
    is_own = business.is_sandbox and business.owner_id == app.developer_id
    token = new_access_token(test=is_test)
    defaults = {
        "is_test": is_test,
        "token_digest": digest(token),
        "token_hint": last_four(token),
        "webhook_secret": new_webhook_secret(test=is_test),
        "granted_scopes": app.scopes,
        "is_own": is_own,
        "agreed_version": None if is_own else app.approved_version,
        "runs": app.approved_version,
        "installed_by": business.owner,
    }
    made = Installation.objects.create(app=app, business=business, **(defaults | fields))
    made.raw_token = token  # type: ignore[attr-defined]
    return made


def hook(app: App, point: str, **content: Any) -> Definition:
    """A hook in force, as a saved manifest would leave it; `content` are the manifest's fields."""
    fields = {"hookPoint": point, "url": f"/{point}", "timeout": 5000, "priority": 100}
    return definition(app, ExtensionType.HOOK, point, fields | content)


def definition(app: App, kind: ExtensionType, key: str, content: dict[str, Any]) -> Definition:
    """An active definition, which stores run as if each version of the app had been approved with it."""
    position = Definition.objects.filter(app=app, type=kind).count()
    made = Definition.objects.create(app=app, type=kind, key=key, position=position, content=content)
    for version in AppVersion.objects.filter(app=app):
        LiveDefinition.objects.create(definition=made, version=version, content=content)
    return made


def export(installation: Installation) -> Export:
    """Ready, with a file that holds nothing worth reading."""
    made = Export.objects.create(
        installation=installation,
        resource=ExportResource.PRODUCTS,
        status=ExportStatus.READY,
        rows=0,
        etag="0" * 64,
        feed_cursor="MC4w",
        expires_at=timezone.now() + timedelta(hours=24),
    )
    export_files().save(made.file_name, ContentFile(b"file"))
    return made


def staff(business: Business, user: User, role: StoreRole = StoreRole.MANAGER) -> Staff:
    """What accepting an invitation leaves behind."""
    return Staff.objects.create(business=business, user=user, role=role, invited_by=business.owner)


def member(app: App, user: User, role: AppRole = AppRole.DEVELOPER) -> Membership:
    """What accepting an invitation leaves behind."""
    return Membership.objects.create(app=app, user=user, role=role, invited_by=app.developer)
