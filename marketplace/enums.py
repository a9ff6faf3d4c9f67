from django.db import models


class Category(models.TextChoices):
    """The categories of apps (contract, section 2)."""

    ANALYTICS = "analytics", "Analytics"
    MARKETING = "marketing", "Marketing"
    SALES = "sales", "Sales"
    SHIPPING = "shipping", "Shipping"
    POS = "pos", "Point of sale"
    COMMUNICATION = "communication", "Communication"
    AUTOMATION = "automation", "Automation"
    LOYALTY = "loyalty", "Loyalty"
    OTHER = "other", "Other"


class Sort(models.TextChoices):
    """The sort orders of the marketplace, the default first."""

    INSTALLS = "installs", "Most installed"
    UPDATED = "updated", "Recently updated"
    NAME = "name", "Name"


class Without(models.TextChoices):
    """Marketplace filters for apps that don't ask for something."""

    CUSTOMERS = "customers", "Sees no customers"
    CHANGES = "changes", "Changes nothing"


class AppRole(models.TextChoices):
    """What a member may do with an app (`marketplace.access`)."""

    OWNER = "OWNER", "Owner"
    DEVELOPER = "DEVELOPER", "Developer"
    VIEWER = "VIEWER", "Viewer"


class AppStatus(models.TextChoices):
    """The state of the developer's working copy. The approved version is separate from it."""

    DRAFT = "DRAFT", "Draft"
    PENDING_REVIEW = "PENDING_REVIEW", "In review"
    APPROVED = "APPROVED", "Approved"


class SessionTokenAlg(models.TextChoices):
    """How session tokens are signed (RFC 7518, RFC 8037)."""

    HS256 = "HS256", "HS256, with the webhook secret"
    EDDSA = "EdDSA", "EdDSA, with the platform's key"


class SubmissionStatus(models.TextChoices):
    """The state of one review round (contract, section 9)."""

    PENDING_REVIEW = "PENDING_REVIEW", "In review"
    APPROVED = "APPROVED", "Approved"
    REJECTED = "REJECTED", "Rejected"
    WITHDRAWN = "WITHDRAWN", "Withdrawn"


class ReviewKind(models.TextChoices):
    """The kinds of entries in the review log."""

    SUBMITTED = "SUBMITTED", "Submitted for review"
    TAKEN = "TAKEN", "Taken by a reviewer"
    RELEASED = "RELEASED", "Put back into the queue"
    WITHDRAWN = "WITHDRAWN", "Withdrawn by the developer"
    APPROVED = "APPROVED", "Approved"
    REJECTED = "REJECTED", "Rejected"
    RESTORED = "RESTORED", "Earlier version restored"
    SUSPENDED = "SUSPENDED", "Suspended"
    REINSTATED = "REINSTATED", "Suspension lifted"
    ADVANCED = "ADVANCED", "Release went on to its next step"
    HALTED = "HALTED", "Release halted"
    RESUMED = "RESUMED", "Release resumed"
    TAKEN_BACK = "TAKEN_BACK", "Version taken back"


class ReleaseMode(models.TextChoices):
    """How an approved version reaches the stores that have the app, chosen at the submission."""

    ALL = "ALL", "All stores at once"
    STEPS = "STEPS", "In steps"


class ReleaseState(models.TextChoices):
    """The state of a release (contract, section 10). ROLLING and HALTED are open."""

    ROLLING = "ROLLING", "Rolling out"
    HALTED = "HALTED", "Halted"
    COMPLETE = "COMPLETE", "Complete"
    TAKEN_BACK = "TAKEN_BACK", "Taken back"


class Criterion(models.TextChoices):
    """The criteria of a review, which are the keys of `Submission.findings`."""

    FUNCTIONALITY = "functionality", "Functionality"
    SECURITY = "security", "Security"
    SCOPES = "scopes", "Scope appropriateness"
    QUALITY = "quality", "Quality"
    POLICY = "policy", "Policy compliance"


class Verdict(models.TextChoices):
    """A reviewer's verdict on one criterion."""

    PASS = "PASS", "Pass"
    FAIL = "FAIL", "Fail"
