"""What a merchant writes on an order: refunds and notes."""

from typing import Any

from django import forms

from common.web.forms.one_time import OneTimeForm
from merchants.money_field import MoneyField
from stores.models import Order
from stores.standing import refundable

MAX_WORDS = 300  # of `stores.models.OrderChange.note`


class RefundForm(forms.Form):
    """`known` is what was refunded when the page was shown."""

    known = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Reason",
        max_length=MAX_WORDS,
        help_text="Such as: one loaf was missing.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, order: Order, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["known"].initial = order.refunded
        self.fields["amount"] = MoneyField(
            currency=order.currency, label=f"Amount in {order.currency}", initial=refundable(order)
        )
        self.order_fields(["known", "amount", "reason"])


class NoteForm(OneTimeForm):
    text = forms.CharField(
        label="Note for the staff",
        max_length=MAX_WORDS,
        help_text="Customers and apps don’t see it.",
        widget=forms.Textarea({"rows": 2}),
        error_messages={"required": "Write a note first."},
    )
