"""The JSON Schemas (Draft 2020-12) of hook calls: the `data` of each request and the whole answer.

The fields are those of the specification's table "Hook points". Answers are validated by these schemas, so they are
written here and not derived from serializers. Unknown fields are ignored. Amounts are whole minor units; `integer` also
admits `250.0`, which is the same JSON number. An optional field may be null, which means the same as leaving it out.

`extensions.hooks.answers` checks what no schema can: `paymentUrl` and `icon` are HTTPS (loopback http in `DEBUG`).
"""

from collections.abc import Sequence
from typing import Any

from stores.buyers.attributes import KEY, LONGEST
from stores.enums import DeliveryMethod
from stores.hookpoints import MAX_MINOR, HookPoint

Schema = dict[str, Any]

TELLS_SHOPPER = frozenset(HookPoint) - {HookPoint.PAYMENT_METHODS}


def text(about: str, example: str, **more: Any) -> Schema:
    return {"type": "string", "description": about, "examples": [example], **more}


def integer(about: str, example: int, **more: Any) -> Schema:
    return {"type": "integer", "description": about, "examples": [example], **more}


def minor(about: str, example: int) -> Schema:
    """An amount in minor units (cents)."""
    return integer(f"{about} In minor units.", example, minimum=0, maximum=MAX_MINOR)


def moment(about: str, example: str = "2026-11-20T15:04:05.123Z") -> Schema:
    return text(about, example, format="date-time")


def listing(about: str, items: Schema) -> Schema:
    return {"type": "array", "description": about, "items": items, "examples": [items["examples"]]}


def shape(fields: dict[str, Schema], *, optional: Sequence[str] = ()) -> Schema:
    """An object with an example made of its fields' examples; `optional` fields may be left out."""
    return {
        "type": "object",
        "properties": fields,
        "required": [name for name in fields if name not in optional],
        "examples": [{name: field["examples"][0] for name, field in fields.items()}],
    }


def answer(fields: dict[str, Schema], *, optional: Sequence[str] = ()) -> Schema:
    """The same, where optional fields may be null."""
    nullable = {name: fields[name] | {"type": [fields[name]["type"], "null"]} for name in optional}
    return shape(fields | nullable, optional=optional)


BUSINESS = text("The business.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a05", minLength=1)
PRODUCT = text("The product.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02", minLength=1)
SUBTOTAL = minor("The order's lines together.", 2500)
DELIVERY = text("How the goods get there.", "DELIVERY", enum=DeliveryMethod.values)
LINE = shape({"productId": PRODUCT, "quantity": integer("How many of it.", 2, minimum=1)})
ITEMS = listing("The products in the order.", LINE)

REQUEST_SCHEMAS: dict[HookPoint, Schema] = {
    HookPoint.PAYMENT_METHODS: shape({"businessId": BUSINESS}),
    HookPoint.CREATE_PAYMENT: shape(
        {
            "orderId": text("The order to be paid.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a01", minLength=1),
            "amount": text("The amount to pay, in minor units, as text.", "2850", pattern="^[0-9]+$"),
            "currency": text("ISO 4217.", "USD", pattern="^[A-Z]{3}$"),
            "paymentMethodId": text("Your own id of the method that the customer chose.", "wallet"),
            "businessId": BUSINESS,
            "description": text("A description of the payment.", "Order 1001 at Mira's Coffee"),
        }
    ),
    HookPoint.SHIPPING_RATES: shape(
        {
            "deliveryMethod": DELIVERY,
            "locality": text("The destination, if it is known.", "Almaty"),
            "subtotal": SUBTOTAL,
            "builtInFee": minor("The store's own fee; 0 for PICKUP.", 350),
        },
        optional=["locality"],
    ),
    HookPoint.VALIDATE: shape({"items": ITEMS, "subtotal": SUBTOTAL, "deliveryMethod": DELIVERY}),
    HookPoint.DISCOUNTS: shape(
        {
            "items": ITEMS,
            "subtotal": SUBTOTAL,
            "promoDiscount": minor("The discount of a promotion, already applied.", 0),
            "deliveryFee": minor("The store's own delivery fee.", 350),
        }
    ),
}

METHOD = answer(
    {
        "id": text("Your own id; offered as <app slug>:<id>.", "wallet", minLength=1, maxLength=100),
        "name": text("The name that the customer sees.", "Acme Wallet", minLength=1),
        "description": text("A line below the name.", "Pay with your phone."),
        "icon": text("A picture's HTTPS address.", "https://acme.example/wallet.png", format="uri"),
    },
    optional=["description", "icon"],
)
ANSWER_SCHEMAS: dict[HookPoint, Schema] = {
    HookPoint.PAYMENT_METHODS: shape({"methods": listing("The methods that you offer now.", METHOD)}),
    HookPoint.CREATE_PAYMENT: answer(
        {
            "paymentUrl": text(
                "The HTTPS page to send the customer to.", "https://acme.example/pay/77", format="uri"
            ),
            "qrCode": text("The content of a QR code for the customer.", "acme:pay/77"),
            "invoiceId": text("Your id of the payment.", "inv-77", maxLength=200),
            "expiresAt": moment("Until when it can be paid.", "2026-11-20T15:34:05.123Z"),
        },
        optional=["paymentUrl", "qrCode", "invoiceId", "expiresAt"],
    ),
    HookPoint.SHIPPING_RATES: shape({"fee": minor("The delivery's fee, instead of builtInFee.", 250)}),
    HookPoint.VALIDATE: answer(
        {
            "valid": {
                "type": "boolean",
                "description": "Whether the order may be placed.",
                "examples": [False],
            },
            "reason": text(
                "Shown to the customer when valid is false, up to 300 characters of it.",
                "We do not deliver there.",
            ),
        },
        optional=["reason"],
    ),
    HookPoint.DISCOUNTS: answer(
        {
            "discount": minor("The discount on the subtotal.", 250),
            "reason": text(
                "Shown to the customer, up to 300 characters of it.", "One coffee in ten is free."
            ),
        },
        optional=["reason"],
    ),
}


SHOPPER: Schema = shape(
    {
        "key": text(
            "The same for one person at this installation.",
            "shp_0b32d1c7a4074cc39d6f0d2f4c1f8a30",
            pattern="^shp_[0-9a-f]{32}$",
        ),
        "proven": {
            "type": "boolean",
            "description": "Whether this browser has shown that e-mails to this person reach it. If not, let the person earn, but never "
            "show or spend what they have.",
            "examples": [False],
        },
    }
)
ATTRIBUTES: Schema = {
    "type": "object",
    "description": "What your app has put into the cart or the order.",
    "propertyNames": {"pattern": f"^{KEY.pattern}$"},
    "additionalProperties": {"type": "string", "maxLength": LONGEST},
    "examples": [{"slot": "Friday, 9 to 11"}],
}


def request_body(point: HookPoint) -> Schema:
    """The whole body of a hook call (specification, "Hook calls")."""
    fields = {
        "hookPoint": text("The hook point.", str(point), const=str(point)),
        "businessId": BUSINESS,
        "timestamp": moment("When it was sent."),
        "data": REQUEST_SCHEMAS[point] | {"description": "The fields of the hook point."},
        "attributes": ATTRIBUTES,
    }
    if point in TELLS_SHOPPER:
        about = "Who orders; null for somebody unknown, and where your installation may not read orders."
        fields["shopper"] = SHOPPER | {"type": ["object", "null"], "description": about}
    return shape(fields)
