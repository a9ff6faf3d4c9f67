"""The models of a plain store. Money is in minor units of the business's currency (`common.money`)."""

from stores.models.checkouts import Quote, ShopPayment
from stores.models.mirror import MirroredRow, MirrorState
from stores.models.orders import LINES, PERSON, Order, OrderChange, OrderHookPart, OrderItem, Payment
from stores.models.products import Product, ProductPicture, Review, SitePage
from stores.models.settings import (
    DEFAULT_DELIVERY_FEE,
    StoredPicture,
    StorePicture,
    StoreSettings,
    StoreTotals,
)
from stores.models.shoppers import (
    BuyerMails,
    Cart,
    CustomerErasure,
    MerchantNews,
    Shopper,
    StoreVisits,
    WaitingMail,
)
