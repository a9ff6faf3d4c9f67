from django.db import models


class Category(models.TextChoices):
    """The categories of the specification's table "App"."""

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
    """The orders of the marketplace, the usual one first."""

    INSTALLS = "installs", "Most installed"
    UPDATED = "updated", "Recently updated"
    NAME = "name", "Name"


class Without(models.TextChoices):
    """What a visitor of the marketplace may want an app not to ask for."""

    CUSTOMERS = "customers", "Sees no customers"
    CHANGES = "changes", "Changes nothing"


class AppStatus(models.TextChoices):
    """The state of the developer's working copy. The approved version lives on beside it."""

    DRAFT = "DRAFT", "Draft"
    PENDING_REVIEW = "PENDING_REVIEW", "In review"
    APPROVED = "APPROVED", "Approved"


class SubmissionStatus(models.TextChoices):
    """The state of one review round (contract section 9, "Apps")."""

    PENDING_REVIEW = "PENDING_REVIEW", "In review"
    APPROVED = "APPROVED", "Approved"
    REJECTED = "REJECTED", "Rejected"
    WITHDRAWN = "WITHDRAWN", "Withdrawn"


class ReviewKind(models.TextChoices):
    """What the log of reviews records."""

    SUBMITTED = "SUBMITTED", "Submitted for review"
    TAKEN = "TAKEN", "Taken by a reviewer"
    RELEASED = "RELEASED", "Put back into the queue"
    WITHDRAWN = "WITHDRAWN", "Withdrawn by the developer"
    APPROVED = "APPROVED", "Approved"
    REJECTED = "REJECTED", "Rejected"
    SUSPENDED = "SUSPENDED", "Suspended"
    REINSTATED = "REINSTATED", "Suspension lifted"


class Criterion(models.TextChoices):
    """What a review judges (specification, "App status"). The keys of `Submission.findings`."""

    FUNCTIONALITY = "functionality", "Functionality"
    SECURITY = "security", "Security"
    SCOPES = "scopes", "Scope appropriateness"
    QUALITY = "quality", "Quality"
    POLICY = "policy", "Policy compliance"


class Verdict(models.TextChoices):
    """On one criterion."""

    PASS = "PASS", "Pass"
    FAIL = "FAIL", "Fail"
