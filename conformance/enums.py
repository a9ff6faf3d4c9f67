from django.db import models


class Sender(models.TextChoices):
    """Who sends the requests of a run. Only the platform's own runs are evidence in a review."""

    PLATFORM = "PLATFORM", "The platform"
    DEVELOPER = "DEVELOPER", "The developer's command line"


class RunStatus(models.TextChoices):
    RUNNING = "RUNNING", "Running"
    PASSED = "PASSED", "Passed"
    FAILED = "FAILED", "Failed"
    EXPIRED = "EXPIRED", "Expired"  # its command line stopped answering


class Expected(models.TextChoices):
    """What a response must be like."""

    ACCEPTED = "ACCEPTED"  # 2xx
    REFUSED = "REFUSED"  # 401
    SHOWN = "SHOWN"  # 2xx, or a redirect
    HANDLED = "HANDLED"  # anything but an error of the server


class Outcome(models.TextChoices):
    """Of a rule or a check, from best to worst; the worst one of several counts."""

    PASS = "PASS", "Passed"
    SKIPPED = "SKIPPED", "Not checked"
    WARN = "WARN", "Warning"
    FAIL = "FAIL", "Failed"
