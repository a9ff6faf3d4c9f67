from django.db import models


class Role(models.TextChoices):
    """What an account is for. A reviewer is made by an administrator and has no business."""

    DEVELOPER = "DEVELOPER", "Developer"
    MERCHANT = "MERCHANT", "Merchant"
    REVIEWER = "REVIEWER", "Reviewer"


class StoreRole(models.TextChoices):
    """What a person may do with a store (`accounts.access`)."""

    OWNER = "OWNER", "Owner"
    MANAGER = "MANAGER", "Manager"
    ORDERS = "ORDERS", "Orders"


SELF_REGISTERED = (Role.DEVELOPER, Role.MERCHANT)


class SecurityEventKind(models.TextChoices):
    """A line of the security log. The label is what its page says."""

    SIGNED_IN = "SIGNED_IN", "Signed in"
    SIGN_IN_FAILED = "SIGN_IN_FAILED", "Failed sign-in"
    SIGNED_OUT = "SIGNED_OUT", "Signed out"
    SESSION_ENDED = "SESSION_ENDED", "Session ended"
    REFRESH_TOKEN_REUSED = "REFRESH_TOKEN_REUSED", "Sign-in ended: a refresh token was used twice"
    REGISTERED = "REGISTERED", "Account created"
    ACCOUNT_DELETED = "ACCOUNT_DELETED", "Account deleted"
    PASSWORD_CHANGED = "PASSWORD_CHANGED", "Password changed"
    EMAIL_CHANGED = "EMAIL_CHANGED", "E-mail address changed"
    EMAIL_CONFIRMED = "EMAIL_CONFIRMED", "E-mail address confirmed"
    SECOND_FACTOR_ADDED = "SECOND_FACTOR_ADDED", "Second factor added"
    SECOND_FACTOR_REMOVED = "SECOND_FACTOR_REMOVED", "Second factor removed"
    RECOVERY_CODES_CREATED = "RECOVERY_CODES_CREATED", "Recovery codes created"
    PROVIDER_CONNECTED = "PROVIDER_CONNECTED", "Sign-in by your provider connected"
    PROVIDER_DISCONNECTED = "PROVIDER_DISCONNECTED", "Sign-in by your provider disconnected"
    RIGHTS_CHANGED = "RIGHTS_CHANGED", "Rights changed"
    DETAILS_CHANGED = "DETAILS_CHANGED", "Details changed"
    GROUP_CHANGED = "GROUP_CHANGED", "Group changed"
    TOKEN_CREATED = "TOKEN_CREATED", "Developer token created"
    TOKEN_REVOKED = "TOKEN_REVOKED", "Developer token revoked"
    CLIENT_SECRET_ROTATED = "CLIENT_SECRET_ROTATED", "Client secret rotated"
    APP_SUBMITTED = "APP_SUBMITTED", "App submitted for review"
    APP_APPROVED = "APP_APPROVED", "App approved"
    APP_REJECTED = "APP_REJECTED", "App rejected"
    APP_SUSPENDED = "APP_SUSPENDED", "App suspended"
    APP_REINSTATED = "APP_REINSTATED", "Suspension lifted"
    MEMBER_INVITED = "MEMBER_INVITED", "Invited to an app"
    MEMBER_JOINED = "MEMBER_JOINED", "Joined an app"
    MEMBER_ROLE_CHANGED = "MEMBER_ROLE_CHANGED", "Role on an app changed"
    MEMBER_REMOVED = "MEMBER_REMOVED", "Removed from an app"
    APP_OFFERED = "APP_OFFERED", "App offered for transfer"
    APP_TRANSFERRED = "APP_TRANSFERRED", "App transferred"
    STAFF_INVITED = "STAFF_INVITED", "Invited to a store"
    STAFF_JOINED = "STAFF_JOINED", "Joined a store"
    STAFF_ROLE_CHANGED = "STAFF_ROLE_CHANGED", "Role in a store changed"
    STAFF_REMOVED = "STAFF_REMOVED", "Removed from a store"
    APP_INSTALLED = "APP_INSTALLED", "App installed"
    APP_PAUSED = "APP_PAUSED", "App paused"
    APP_RESUMED = "APP_RESUMED", "App resumed"
    APP_PERMISSIONS_APPROVED = "APP_PERMISSIONS_APPROVED", "App permissions approved"
    APP_UNINSTALLED = "APP_UNINSTALLED", "App uninstalled"


class TokenRight(models.TextChoices):
    """What a developer token may do only where that was selected when it was created."""

    SECRETS = "secrets", "Regenerate the client secrets of your apps"
    DELETE = "delete", "Delete your apps"
    MEMBERS = "members", "Add and remove members of your apps, and transfer them"


class StoreNotice(models.TextChoices):
    """News about their stores that merchants get by mail, as often as they choose (`services.profile`)."""

    NEW_ORDERS = "new_orders", "New orders"
    LOW_STOCK = "low_stock", "Products that run low"
    NEW_REVIEWS = "new_reviews", "New reviews"


class Frequency(models.TextChoices):
    EACH = "each", "One mail for each"
    HOURLY = "hourly", "Once an hour"
    DAILY = "daily", "Once a day, at 8:00 store time"
    OFF = "off", "No mails"


class MailKind(models.TextChoices):
    """Notices that people may switch off. Mails about the account's security are always sent."""

    FAILING_WEBHOOKS = "failing_webhooks", "A webhook endpoint keeps failing, or was disabled"
    REVIEW_DECISIONS = "review_decisions", "A review of an app is decided, or a reviewer writes"
    CHECKS = "checks", "An app fails its weekly check, or a script of it has changed"
    RELEASES = "releases", "A release of an app has halted by itself"
    PERMISSION_QUESTIONS = "permission_questions", "An app asks for more permissions"
    FAILING_APPS = "failing_apps", "An app keeps failing in your store"
    ERASURES = "erasures", "An uninstalled app has erased your store’s data, or hasn’t confirmed it"
