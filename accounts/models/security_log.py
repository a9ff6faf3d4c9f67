"""What has happened to people's accounts and apps, kept where it can't be changed."""

from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.utils.timezone import now

from accounts.enums import SecurityEventKind
from accounts.models.people import User
from common.ids import new_id


class SecurityEventQuerySet(models.QuerySet["SecurityEvent"]):
    def concerning(self, user: User) -> "SecurityEventQuerySet":
        """What happened to this person, and what this person did to others."""
        return self.filter(Q(user=user) | Q(actor=user))

    def with_people(self, field: str) -> "SecurityEventQuerySet":
        """Add `user_is` and `actor_is`, this field of each. A join would lose the rows of people who are gone."""
        people = {
            f"{role}_is": Subquery(User.objects.filter(pk=OuterRef(f"{role}_id")).values(field))
            for role in ("user", "actor")
        }
        return self.annotate(**people)


class SecurityEvent(models.Model):
    """A line of a person's security log. Written by `services.security_log`.

    Triggers in the database refuse to change a row, and to remove one that is less than a year old
    (`accounts.migrations`, `append_only`). So people are kept as ids without a constraint, and rows outlive accounts.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    at = models.DateTimeField(default=now)
    kind = models.CharField(
        max_length=40
    )  # of SecurityEventKind; without choices, so that a new one needs no migration
    user = models.ForeignKey(User, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    actor = models.ForeignKey(
        User, null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )
    about = models.CharField(max_length=300, blank=True)  # "Order Bell on Harbour Bakery"
    device = models.CharField(max_length=300, blank=True)
    network = models.CharField(max_length=64, blank=True)

    objects = SecurityEventQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["user", "-id"], name="security_event_of_user"),
            models.Index(fields=["actor", "-id"], name="security_event_by_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.title}"

    @property
    def title(self) -> str:
        return SecurityEventKind(self.kind).label
