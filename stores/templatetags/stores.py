"""Store records as every page shows them: `{% load stores %}`."""

from django import template
from django.template.defaultfilters import floatformat
from django.utils.translation import gettext

from accounts.models import Business
from common.money import display
from stores import addresses
from stores.addresses import small_path, thumbnail_path
from stores.models import Order, Product
from stores.serializers import NEUTRAL_PICTURE

register = template.Library()


@register.filter
def money(minor: int, of: Business | Order) -> str:
    """`{{ product.price|money:shop }}`: an amount in the currency of a store or an order, in the store's locale."""
    locale = of.locale if isinstance(of, Business) else of.business.locale
    return display(minor, of.currency, locale)


@register.filter
def times(price: int, quantity: int) -> int:
    return price * quantity


@register.filter
def stars_words(rating: float) -> str:
    """What the stars say to those who don't see them."""
    return gettext("%(rating)s of 5 stars") % {"rating": floatformat(rating)}


@register.simple_tag
def store_url(business: Business, *parts: str) -> str:
    """`{% store_url business "products" product.slug %}`: a page's address on the stores' host."""
    return addresses.store_url(business.slug, *parts)


@register.filter
def picture(product: Product) -> str:
    """The path of the product's picture, or of a neutral one."""
    return product.image or NEUTRAL_PICTURE


@register.filter
def thumbnail(product: Product) -> str:
    """Like `picture`, at most 480 pixels wide and high if it was uploaded."""
    return thumbnail_path(picture(product))


@register.filter
def small_picture(product: Product) -> str:
    """Like `picture`, for a row of a list."""
    return small_path(picture(product))
