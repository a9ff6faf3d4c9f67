"""The JSON Schemas (Draft 2020-12) of what a hook call asks and what it may be answered, with an example each.

The fields are those of the specification's table "Hook points". `REQUEST_SCHEMAS` describe the `data` of the
request, `ANSWER_SCHEMAS` the whole JSON object of the answer; unknown fields are ignored in both. Amounts are whole
minor units: `integer` also admits `250.0`, which is the same JSON number. An optional field may be null, which reads
as left out.

What no schema can say is checked besides: `paymentUrl` and `icon` must be HTTPS (loopback http in `DEBUG`).
"""

from common.json_schema import (
    Schema,
    boolean,
    identifier,
    integer,
    listing,
    moment,
    one_of,
    or_null,
    record,
    shape,
    text,
)
from stores.enums import DeliveryMethod
from stores.hookpoints import MAX_MINOR, HookPoint

_BUSINESS = identifier("The business that asks.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a05")
_PRODUCT = identifier("The product.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02")
_DELIVERY = one_of("How the goods get there.", DeliveryMethod.values, "DELIVERY")
_REASON = text("Shown to the customer, up to 300 characters of it.", "One coffee in ten is free.")


def minor(about: str, example: int) -> Schema:
    """An amount in minor units (cents)."""
    return integer(f"{about} In minor units.", example, minimum=0, maximum=MAX_MINOR)


def items() -> Schema:
    line = record(productId=_PRODUCT, quantity=integer("How many of it.", 2, minimum=1))
    return listing("What is being ordered.", line)


REQUEST_SCHEMAS: dict[HookPoint, Schema] = {
    HookPoint.PAYMENT_METHODS: record(businessId=_BUSINESS),
    HookPoint.CREATE_PAYMENT: record(
        orderId=identifier("The order to be paid.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a01"),
        amount=text("What is to be paid, in minor units, as text.", "2850", pattern="^[0-9]+$"),
        currency=text("ISO 4217.", "USD", pattern="^[A-Z]{3}$"),
        paymentMethodId=text("The method that the customer chose, under your own id for it.", "wallet"),
        businessId=_BUSINESS,
        description=text("What the payment is for, in words.", "Order 1001 at Mira's Coffee"),
    ),
    HookPoint.SHIPPING_RATES: shape(
        {
            "deliveryMethod": _DELIVERY,
            "locality": text("Where the goods go, if that is known.", "Almaty"),
            "subtotal": minor("The order's lines together.", 2500),
            "builtInFee": minor("The store's own fee; 0 for PICKUP.", 350),
        },
        optional=["locality"],
    ),
    HookPoint.VALIDATE: record(
        items=items(), subtotal=minor("The order's lines together.", 2500), deliveryMethod=_DELIVERY
    ),
    HookPoint.DISCOUNTS: record(
        items=items(),
        subtotal=minor("The order's lines together.", 2500),
        promoDiscount=minor("What a promotion takes off already.", 0),
        deliveryFee=minor("The store's own delivery fee.", 350),
    ),
}


def _answer(fields: dict[str, Schema], optional: list[str]) -> Schema:
    nullable = {name: or_null(field) if name in optional else field for name, field in fields.items()}
    return shape(nullable, optional=optional)


ANSWER_SCHEMAS: dict[HookPoint, Schema] = {
    HookPoint.PAYMENT_METHODS: record(
        methods=listing(
            "The methods that you offer now.",
            _answer(
                {
                    "id": text(
                        "Your own id; offered as <app slug>:<id>.", "wallet", minLength=1, maxLength=100
                    ),
                    "name": text("What the customer chooses.", "Acme Wallet", minLength=1),
                    "description": text("A line below it.", "Pay with your phone."),
                    "icon": text(
                        "A picture's HTTPS address.",
                        "https://acme.example/wallet.png",
                        format="uri",
                    ),
                },
                optional=["description", "icon"],
            ),
        )
    ),
    HookPoint.CREATE_PAYMENT: _answer(
        {
            "paymentUrl": text(
                "The HTTPS page to send the customer to.",
                "https://acme.example/pay/77",
                format="uri",
            ),
            "qrCode": text("What a QR code shown to the customer says.", "acme:pay/77"),
            "invoiceId": text("Your id of the payment.", "inv-77", maxLength=200),
            "expiresAt": moment("Until when it can be paid.", "2026-11-20T15:34:05.123Z"),
        },
        optional=["paymentUrl", "qrCode", "invoiceId", "expiresAt"],
    ),
    HookPoint.SHIPPING_RATES: record(fee=minor("The delivery's fee, in the place of builtInFee.", 250)),
    HookPoint.VALIDATE: _answer(
        {
            "valid": boolean("Whether the order may be placed.", False),
            "reason": text(
                "Shown to the customer when valid is false, up to 300 characters of it.",
                "We do not deliver there.",
            ),
        },
        optional=["reason"],
    ),
    HookPoint.DISCOUNTS: _answer(
        {"discount": minor("What is taken off the subtotal.", 250), "reason": _REASON}, optional=["reason"]
    ),
}


def request_body(point: HookPoint) -> Schema:
    """The whole body of a hook call (specification, "Hook calls")."""
    asked = REQUEST_SCHEMAS[point]
    return record(
        hookPoint={
            "type": "string",
            "const": str(point),
            "description": "What is asked.",
            "examples": [point],
        },
        businessId=_BUSINESS,
        timestamp=moment("When it was asked."),
        data={**asked, "description": "What the question is about."},
    )
