from django.db import models


class Sender(models.TextChoices):
    """The senders of a run's requests. Only those of the platform itself are evidence."""

    PLATFORM = "PLATFORM", "The platform"
    WEEKLY = "WEEKLY", "The platform, each week"  # of what is listed, not of the working copy
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


class Change(models.TextChoices):
    """What a weekly check changed, about which developers get a mail."""

    BROKEN = "BROKEN"  # it passed before, or another rule failed
    LISTED = "LISTED"  # the listing says so from now on
    PASSED = "PASSED"  # again


class Outcome(models.TextChoices):
    """Of a rule or a check, from best to worst; the worst one of several counts."""

    PASS = "PASS", "Passed"
    SKIPPED = "SKIPPED", "Not checked"
    WARN = "WARN", "Warning"
    FAIL = "FAIL", "Failed"
