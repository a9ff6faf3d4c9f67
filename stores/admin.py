"""Stores in the admin. Changes go through the services, as everywhere, so apps get their events."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.db.models import Field, Model, QuerySet
from django.forms import Field as FormField
from django.forms import ModelForm
from django.http import HttpRequest

from accounts.models import User
from common.errors import ServiceError
from stores.enums import OrderStatus
from stores.models import Order, OrderItem, Payment, Product, Review, SitePage, StoreSettings
from stores.services.catalogue import products
from stores.services.history import staff
from stores.services.orders import change_order_status
from stores.services.pages import create_page, delete_page, update_page
from stores.services.reviews import delete_review
from stores.services.settings import set_delivery_fee

Action = Callable[["admin.ModelAdmin[Any]", HttpRequest, QuerySet[Any]], None]


class OwnSlugForm(ModelForm):
    """Reports on the form that a slug is taken, although the business can't be edited there. A value that stays as it is isn't judged again."""

    def _get_validation_exclusions(self) -> set[str]:
        excluded: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]
        if "business" in self.fields:
            return excluded
        return (excluded - {"business"}) | {name for name in self.fields if name not in self.changed_data}


class ServiceAdmin(admin.ModelAdmin):
    """Rows never change their business, and are removed one by one, because a queryset's `delete` would bypass the services."""

    list_select_related: ClassVar[tuple[str, ...]] = ("business",)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), *(["business"] if obj else [])]

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset:
            self.delete_model(request, row)


def _entered(form: ModelForm) -> dict[str, Any]:
    """The changed fields of the form, or all filled-in ones of an empty form."""
    return {name: form.cleaned_data[name] for name in form.changed_data}


def _each(description: str, change: Callable[[Any, HttpRequest], object]) -> Action:
    """An action that applies `change` to each chosen row, with the request, and reports the errors."""

    def action(model_admin: "admin.ModelAdmin[Any]", request: HttpRequest, rows: QuerySet[Any]) -> None:
        for row in rows:
            try:
                change(row, request)
            except ServiceError as error:
                model_admin.message_user(request, f"{row}: {error.message}", messages.ERROR)

    action.__name__ = description.lower().replace(" ", "_")
    return admin.action(action, description=description, permissions=["change"])


@admin.register(Product)
class ProductAdmin(ServiceAdmin):
    form = OwnSlugForm
    list_display = ("name", "business", "category", "price", "stock", "is_available", "status")
    list_filter = ("status", "is_available")
    search_fields = ("name", "slug", "business__name")
    readonly_fields = ("status",)
    actions = (
        _each("Archive", lambda product, request: products.archive_product(product=product)),
        _each("Restore", lambda product, request: products.restore_product(product=product)),
    )

    def formfield_for_dbfield(
        self, db_field: "Field[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> FormField | None:
        """Remember the stock that the form was opened with, so that saving another field doesn't overwrite sales made meanwhile."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and db_field.name == "stock":
            field.show_hidden_initial = True
        return field

    def save_model(self, request: HttpRequest, obj: Product, form: ModelForm, change: bool) -> None:
        if change:
            products.update_product(product=obj, **_entered(form))
        else:
            obj.pk = products.create_product(**form.cleaned_data).pk

    def delete_model(self, request: HttpRequest, obj: Product) -> None:
        products.delete_product(product=obj)


@admin.register(Review)
class ReviewAdmin(ServiceAdmin):
    """Customers write reviews; the admin can read and delete them."""

    list_display = ("rating", "product", "author_name", "business", "created_at")
    list_filter = ("rating",)
    list_select_related = ("business", "product")
    search_fields = ("comment", "author_name", "product__name")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Review | None = None) -> bool:
        return False

    def delete_model(self, request: HttpRequest, obj: Review) -> None:
        delete_review(review=obj)


@admin.register(SitePage)
class SitePageAdmin(ServiceAdmin):
    form = OwnSlugForm
    list_display = ("title", "business", "slug", "is_published")
    list_filter = ("is_published",)
    search_fields = ("title", "slug", "business__name")

    def save_model(self, request: HttpRequest, obj: SitePage, form: ModelForm, change: bool) -> None:
        if change:
            update_page(page=obj, **_entered(form))
        else:
            obj.pk = create_page(**form.cleaned_data).pk

    def delete_model(self, request: HttpRequest, obj: SitePage) -> None:
        delete_page(page=obj)


@admin.register(StoreSettings)
class StoreSettingsAdmin(ServiceAdmin):
    list_display = ("business", "delivery_fee")
    fields = ("business", "delivery_fee")  # merchants choose the look themselves

    def save_model(self, request: HttpRequest, obj: StoreSettings, form: ModelForm, change: bool) -> None:
        set_delivery_fee(business=obj.business, fee=form.cleaned_data["delivery_fee"])


class OrderInline(admin.TabularInline):
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ItemInline(OrderInline):
    model = OrderItem


class PaymentInline(OrderInline):
    model = Payment


def _move_to(status: OrderStatus) -> Action:
    def move(order: Order, request: HttpRequest) -> Order:
        return change_order_status(order=order, status=status, by=staff(cast(User, request.user)))

    return _each(f"Move to {status.label}", move)


@admin.register(Order)
class OrderAdmin(ServiceAdmin):
    """Orders are read-only; the list's actions change their status."""

    list_display = ("number", "business", "status", "amount", "currency", "payment_method", "created_at")
    list_filter = ("status", "validation", "delivery_method")
    search_fields = ("number", "customer_name", "customer_email", "business__name")
    readonly_fields = tuple(field.name for field in Order._meta.fields)
    inlines = (ItemInline, PaymentInline)
    actions = tuple(_move_to(status) for status in OrderStatus)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Order, form: ModelForm, change: bool) -> None:
        """No field of the form can be edited."""
