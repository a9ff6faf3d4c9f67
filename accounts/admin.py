"""People and businesses in the administration. New people here are reviewers; others register themselves."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.forms import ModelForm
from django.http import HttpRequest

from accounts.enums import Role
from accounts.models import Business, User
from accounts.services import reviewers


class ReviewerCreationForm(AdminUserCreationForm):
    class Meta:
        model = User
        fields = ("email", "name")


class PersonChangeForm(UserChangeForm):
    class Meta:
        model = User
        fields = "__all__"
        field_classes: dict[str, type] = {}


@admin.register(User)
class UserAdmin(DjangoUserAdmin):
    form = PersonChangeForm
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
                "description": "Reviews and suspends apps in the administration, as the group Reviewers may.",
            },
        ),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Only a superuser gives rights: staff who may change people must not promote themselves."""
        fields = tuple(super().get_readonly_fields(request, obj))
        if request.user.is_superuser:
            return fields
        return (*fields, "is_staff", "is_superuser", "groups", "user_permissions")

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm, change: bool) -> None:
        if not change:
            obj.role = Role.REVIEWER
            obj.is_staff = True
        super().save_model(request, obj, form, change)
        if not change:
            obj.groups.add(reviewers.group())


@admin.register(Business)
class BusinessAdmin(admin.ModelAdmin):
    list_display = ("name", "slug", "owner", "type", "currency", "is_sandbox", "created_at")
    list_filter = ("is_sandbox", "currency")
    list_select_related = ("owner",)
    search_fields = ("name", "slug", "owner__email")
    readonly_fields = ("owner", "slug", "is_sandbox", "created_at")
    fields = (
        ("name", "slug"),
        "owner",
        "type",
        "address",
        ("currency", "locale", "timezone"),
        ("is_sandbox", "created_at"),
    )

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A business comes with its registration, or is added by its merchant."""
        return False
