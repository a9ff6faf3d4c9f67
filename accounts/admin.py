"""People and businesses in the administration. New people here are reviewers; others register themselves."""

from typing import Any

from allauth.account import admin as account_pages  # registers pages of the library
from allauth.mfa import admin as second_factor_pages
from allauth.socialaccount import admin as provider_pages
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UserChangeForm
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path

from accounts.enums import Role
from accounts.models import Business, Mail, SecurityEvent, Staff, User
from accounts.services import registration, second_factor
from accounts.services.businesses import OWNER_EMAIL
from accounts.services.connections import end_connections
from accounts.services.developer_tokens import end_tokens
from accounts.services.sender import outboxes
from accounts.sign_in.origins import origin_of
from common import lengths
from common.web.admin import ReadOnly
from common.web.forms.fields import limited

RIGHTS = ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")


# Addresses and second factors are changed by their owners, or by the action below, and never as rows.
admin.site.unregister([account_pages.EmailAddress, second_factor_pages.Authenticator])
# The provider is that of the settings, and no row may add another one, or connect a person to it.
admin.site.unregister([provider_pages.SocialApp, provider_pages.SocialAccount, provider_pages.SocialToken])


@limited(password1=lengths.PASSWORD, password2=lengths.PASSWORD)
class ReviewerCreationForm(AdminUserCreationForm):
    class Meta:
        model = User
        fields = ("email", "name")


class PersonChangeForm(UserChangeForm):
    class Meta:
        model = User
        fields = "__all__"
        field_classes: dict[str, type] = {}


@limited(password1=lengths.PASSWORD, password2=lengths.PASSWORD)
class PersonPasswordForm(AdminPasswordChangeForm):
    """For somebody whose account was taken: as with a reset by mail, what was made before ends."""

    @transaction.atomic
    def save(self, commit: bool = True) -> User:
        end_tokens(user=self.user)
        end_connections(user=self.user)
        second_factor.require_password_with_passkeys(user=self.user)
        person: User = super().save(commit)
        return person


class ReadOnlyInline(admin.TabularInline):
    """Decisions of a store's owner are only shown here, to everyone who may see the page."""

    extra = 0
    can_delete = False
    show_change_link = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class StaffInline(ReadOnlyInline):
    """The people who work in a store, and those who are invited."""

    model = Staff
    verbose_name_plural = "staff, and who is invited"
    fields = readonly_fields = ("address", "role", "since", "invited_by")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Staff]:
        rows: QuerySet[Staff] = super().get_queryset(request)
        return rows.select_related("user", "invited_by").order_by("-since")


class WorksInInline(ReadOnlyInline):
    """In which stores of others a person works."""

    model = Staff
    fk_name = "user"
    verbose_name_plural = "works in"
    fields = readonly_fields = ("business", "role", "since", "invited_by")


@admin.register(User)
class UserAdmin(DjangoUserAdmin):
    form = PersonChangeForm
    change_password_form = PersonPasswordForm
    add_form = ReviewerCreationForm
    list_display = ("email", "name", "role", "is_active", "is_staff", "date_joined", "last_login")
    list_filter = ("role", "is_active", "is_staff", "is_superuser")
    search_fields = ("email", "name")
    ordering = ("email",)
    # A role comes with its business at registration and stays.
    readonly_fields = ("role", "date_joined", "last_login")
    fieldsets = (
        (None, {"fields": ("email", "name", "role", "password")}),
        ("Access", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Dates", {"fields": ("date_joined", "last_login")}),
    )
    add_fieldsets = (
        (
            "A new reviewer",
            {
                "classes": ("wide",),
                "fields": ("email", "name", "usable_password", "password1", "password2"),
                "description": "Reviewers can review and suspend apps. Their rights come from the group Reviewers.",
            },
        ),
    )

    actions = ("remove_second_factor",)

    @admin.action(description="Remove the second factor of selected people", permissions=["change"])
    def remove_second_factor(self, request: HttpRequest, people: QuerySet[User]) -> None:
        assert isinstance(request.user, User)
        origin = origin_of(request)
        removed = [
            person.email
            for person in people
            if second_factor.remove(user=person, actor=request.user, origin=origin)
        ]
        self.message_user(request, f"Second factor removed: {', '.join(removed) or 'none had one'}.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Only superusers see staff here: with another password or e-mail address one could sign in as them. People of connected stores
        are their shop's, and have neither.
        """
        people = super().get_queryset(request).exclude(email=OWNER_EMAIL).filter(comes_by_ticket=False)
        if request.user.is_superuser:
            return people
        return people.filter(is_staff=False, is_superuser=False)

    def get_inlines(self, request: HttpRequest, obj: User | None) -> list[Any]:
        return [WorksInInline] if obj and obj.is_merchant else []

    def has_add_permission(self, request: HttpRequest) -> bool:
        """New people here are staff, with the rights of reviewers."""
        return bool(request.user.is_superuser)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return _may_touch(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return _may_touch(request, obj) and super().has_delete_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Only a superuser gives rights."""
        fields = tuple(super().get_readonly_fields(request, obj))
        return fields if request.user.is_superuser else (*fields, *RIGHTS[1:])

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm, change: bool) -> None:
        if not change:
            obj.role = Role.REVIEWER
            obj.is_staff = True
        super().save_model(request, obj, form, change)
        if not change:
            obj.groups.add(registration.reviewer_group())


def _may_touch(request: HttpRequest, person: User | None) -> bool:
    return request.user.is_superuser or person is None or not (person.is_staff or person.is_superuser)


@admin.register(SecurityEvent)
class SecurityEventAdmin(admin.ModelAdmin):
    """The security log of all people, to read."""

    list_display = ("at", "title", "person", "by", "about", "network", "device")
    list_filter = ("at",)
    search_fields = ("about", "network")
    date_hierarchy = "at"
    ordering = ("-id",)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[SecurityEvent]:
        return super().get_queryset(request).with_people("email")  # type: ignore[attr-defined]

    @admin.display(description="Person")
    def person(self, event: Any) -> str:
        return event.user_is or str(event.user_id)

    @admin.display(description="By")
    def by(self, event: Any) -> str:
        return event.actor_is or ""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Business)
class BusinessAdmin(admin.ModelAdmin):
    list_display = ("name", "slug", "owner", "type", "currency", "is_sandbox", "created_at")
    list_filter = ("is_sandbox", "currency")
    list_select_related = ("owner",)
    search_fields = ("name", "slug", "owner__email", "staff__user__email")
    inlines = (StaffInline,)
    readonly_fields = ("owner", "slug", "is_sandbox", "created_at")
    fields = (
        ("name", "slug"),
        "owner",
        "type",
        "address",
        ("currency", "locale", "timezone"),
        ("is_sandbox", "created_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Business]:
        """Without throwaway stores, which checks of apps make and delete."""
        return super().get_queryset(request).filter(expires_at=None)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A business comes with its registration, or is added by its merchant."""
        return False


@admin.register(Mail)
class Mails(ReadOnly, admin.ModelAdmin):
    """A page of figures in the place of a list of rows."""

    def get_urls(self) -> list[URLPattern]:
        view, model = self.admin_site.admin_view(self.changelist_view), self.model._meta
        return [path("", view, name=f"{model.app_label}_{model.model_name}_changelist")]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = {**self.admin_site.each_context(request), "title": "Mails", "outboxes": outboxes()}
        return render(request, "admin/mails.html", context)
