"""What each hook point is called and does, in the words of pages for merchants and developers.

A hook point is described here only. Its fields are in `schemas`, its combining rule in `stores.hookpoints`.
"""

from dataclasses import dataclass
from typing import Final

from stores.hookpoints import HookPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class HookDescription:
    title: str  # a heading
    asked: str  # what the app does at checkout, and when
    may: str  # what a merchant agrees to,
    reads: str  # and what the app learns then
    done: str  # for a count: "Checked orders", 12
    answered: str  # "The app … ."; in an order's history
    asked_for: str  # "The app failed when asked … ."
    buyers_saw: str  # when the app failed; follows a semicolon
    fallback: str  # what checkout does when the app fails, for its developer


# In the order of a checkout.
DESCRIPTIONS: Final[dict[HookPoint, HookDescription]] = {
    HookPoint.PAYMENT_METHODS: HookDescription(
        title="Payment methods",
        asked="Offers payment methods at checkout.",
        may="Offers ways to pay",
        reads="Adds payment methods next to yours. The app takes the payment and sees the order's number and amount.",
        done="Offered payment methods at checkout",
        answered="offered payment methods",
        asked_for="for payment methods",
        buyers_saw="buyers did not see its payment methods",
        fallback="Checkout leaves out your payment methods.",
    ),
    HookPoint.VALIDATE: HookDescription(
        title="Order checks",
        asked="Checks every order before it's placed.",
        may="Can refuse orders",
        reads="Sees what's in each order before it's placed. The customer sees its reason.",
        done="Checked orders",
        answered="checked the order and accepted it",
        asked_for="to check the order",
        buyers_saw="those orders were placed unchecked",
        fallback="The order is accepted and marked as not validated. Merchants can choose to refuse it instead.",
    ),
    HookPoint.DISCOUNTS: HookDescription(
        title="Discounts",
        asked="Can take a discount off each order.",
        may="Takes discounts off orders",
        reads="Sees what's in each order before it's placed. Can't discount more than the products cost.",
        done="Calculated discounts",
        answered="gave a discount",
        asked_for="for a discount",
        buyers_saw="buyers saw the normal price",
        fallback="Checkout applies no discount from your app.",
    ),
    HookPoint.SHIPPING_RATES: HookDescription(
        title="Delivery fee",
        asked="Can set the fee of each delivery.",
        may="Sets the delivery price",
        reads="Sees the order's delivery method and total. Your own price applies if it doesn't answer.",
        done="Calculated delivery fees",
        answered="set the delivery fee",
        asked_for="for the delivery fee",
        buyers_saw="buyers saw the normal delivery fee",
        fallback="Checkout keeps the current fee: the store's own, or the one set by an app before yours.",
    ),
    HookPoint.CREATE_PAYMENT: HookDescription(
        title="Payments",
        asked="Takes the payment if the buyer chose one of its payment methods.",
        may="Takes payments",
        reads="When a customer chooses one of its ways to pay. It sees the order's number and amount.",
        done="Started payments",
        answered="started the payment",
        asked_for="to start the payment",
        buyers_saw="those payments failed, and buyers could choose another payment method",
        fallback="The order is kept and its payment is marked as failed. The shopper can choose another method.",
    ),
}
