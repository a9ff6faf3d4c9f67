"""Money: integer minor units in the database, numbers in major units in APIs. And the currencies of ISO 4217.

A business may use the active ones. Codes for precious metals, funds, units of account and testing are left out, because they
don't price goods.
"""

import re
from contextlib import suppress
from copy import copy
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Final

from babel import Locale, UnknownLocaleError
from babel.numbers import NumberPattern

NAMES: Final = {
    "AED": "UAE dirham", "AFN": "Afghan afghani", "ALL": "Albanian lek", "AMD": "Armenian dram", "AOA": "Angolan kwanza",
    "ARS": "Argentine peso", "AUD": "Australian dollar", "AWG": "Aruban florin", "AZN": "Azerbaijani manat",
    "BAM": "Bosnia-Herzegovina convertible mark", "BBD": "Barbadian dollar", "BDT": "Bangladeshi taka",
    "BHD": "Bahraini dinar", "BIF": "Burundian franc", "BMD": "Bermudan dollar", "BND": "Brunei dollar",
    "BOB": "Bolivian boliviano", "BRL": "Brazilian real", "BSD": "Bahamian dollar", "BTN": "Bhutanese ngultrum",
    "BWP": "Botswana pula", "BYN": "Belarusian ruble", "BZD": "Belize dollar", "CAD": "Canadian dollar",
    "CDF": "Congolese franc", "CHF": "Swiss franc", "CLP": "Chilean peso", "CNY": "Chinese yuan",
    "COP": "Colombian peso", "CRC": "Costa Rican colón", "CUP": "Cuban peso", "CVE": "Cape Verdean escudo",
    "CZK": "Czech koruna", "DJF": "Djiboutian franc", "DKK": "Danish krone", "DOP": "Dominican peso",
    "DZD": "Algerian dinar", "EGP": "Egyptian pound", "ERN": "Eritrean nakfa", "ETB": "Ethiopian birr", "EUR": "Euro",
    "FJD": "Fijian dollar", "FKP": "Falkland Islands pound", "GBP": "British pound", "GEL": "Georgian lari",
    "GHS": "Ghanaian cedi", "GIP": "Gibraltar pound", "GMD": "Gambian dalasi", "GNF": "Guinean franc",
    "GTQ": "Guatemalan quetzal", "GYD": "Guyanaese dollar", "HKD": "Hong Kong dollar", "HNL": "Honduran lempira",
    "HTG": "Haitian gourde", "HUF": "Hungarian forint", "IDR": "Indonesian rupiah", "ILS": "Israeli new shekel",
    "INR": "Indian rupee", "IQD": "Iraqi dinar", "IRR": "Iranian rial", "ISK": "Icelandic króna",
    "JMD": "Jamaican dollar", "JOD": "Jordanian dinar", "JPY": "Japanese yen", "KES": "Kenyan shilling",
    "KGS": "Kyrgystani som", "KHR": "Cambodian riel", "KMF": "Comorian franc", "KPW": "North Korean won",
    "KRW": "South Korean won", "KWD": "Kuwaiti dinar", "KYD": "Cayman Islands dollar", "KZT": "Kazakhstani tenge",
    "LAK": "Laotian kip", "LBP": "Lebanese pound", "LKR": "Sri Lankan rupee", "LRD": "Liberian dollar",
    "LSL": "Lesotho loti", "LYD": "Libyan dinar", "MAD": "Moroccan dirham", "MDL": "Moldovan leu",
    "MGA": "Malagasy ariary", "MKD": "Macedonian denar", "MMK": "Myanmar kyat", "MNT": "Mongolian tugrik",
    "MOP": "Macanese pataca", "MRU": "Mauritanian ouguiya", "MUR": "Mauritian rupee", "MVR": "Maldivian rufiyaa",
    "MWK": "Malawian kwacha", "MXN": "Mexican peso", "MYR": "Malaysian ringgit", "MZN": "Mozambican metical",
    "NAD": "Namibian dollar", "NGN": "Nigerian naira", "NIO": "Nicaraguan córdoba", "NOK": "Norwegian krone",
    "NPR": "Nepalese rupee", "NZD": "New Zealand dollar", "OMR": "Omani rial", "PAB": "Panamanian balboa",
    "PEN": "Peruvian sol", "PGK": "Papua New Guinean kina", "PHP": "Philippine peso", "PKR": "Pakistani rupee",
    "PLN": "Polish zloty", "PYG": "Paraguayan guarani", "QAR": "Qatari riyal", "RON": "Romanian leu",
    "RSD": "Serbian dinar", "RUB": "Russian ruble", "RWF": "Rwandan franc", "SAR": "Saudi riyal",
    "SBD": "Solomon Islands dollar", "SCR": "Seychellois rupee", "SDG": "Sudanese pound", "SEK": "Swedish krona",
    "SGD": "Singapore dollar", "SHP": "St. Helena pound", "SLE": "Sierra Leonean leone", "SOS": "Somali shilling",
    "SRD": "Surinamese dollar", "SSP": "South Sudanese pound", "STN": "São Tomé and Príncipe dobra",
    "SVC": "Salvadoran colón", "SYP": "Syrian pound", "SZL": "Swazi lilangeni", "THB": "Thai baht",
    "TJS": "Tajikistani somoni", "TMT": "Turkmenistani manat", "TND": "Tunisian dinar", "TOP": "Tongan paʻanga",
    "TRY": "Turkish lira", "TTD": "Trinidad and Tobago dollar", "TWD": "New Taiwan dollar", "TZS": "Tanzanian shilling",
    "UAH": "Ukrainian hryvnia", "UGX": "Ugandan shilling", "USD": "US dollar", "UYU": "Uruguayan peso",
    "UZS": "Uzbekistani som", "VED": "Venezuelan digital bolívar", "VES": "Venezuelan bolívar",
    "VND": "Vietnamese dong", "VUV": "Vanuatu vatu", "WST": "Samoan tala", "XAF": "Central African CFA franc",
    "XCD": "East Caribbean dollar", "XCG": "Caribbean guilder", "XOF": "West African CFA franc", "XPF": "CFP franc",
    "YER": "Yemeni rial", "ZAR": "South African rand", "ZMW": "Zambian kwacha", "ZWG": "Zimbabwe gold",
}  # fmt: skip
CURRENCIES = frozenset(NAMES)
MOST_USED: Final = ("USD", "EUR", "GBP", "CAD", "AUD", "JPY", "CNY", "INR", "BRL", "MXN", "CHF", "SEK")

# Of the minor unit, where it isn't two.
NO_DECIMALS = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split())
THREE_DECIMALS = frozenset("BHD IQD JOD KWD LYD OMR TND".split())
_LETTER_BESIDE_DIGIT: Final = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")  # as in SEK12


def decimals(currency: str) -> int:
    """How many decimals the minor unit of an ISO 4217 currency has."""
    if currency in NO_DECIMALS:
        return 0
    return 3 if currency in THREE_DECIMALS else 2


def to_major(minor: int, currency: str) -> float | int:
    """The number for JSON: 1250 USD -> 12.5, and 1250 JPY -> 1250."""
    places = decimals(currency)
    if places:
        return minor / 10**places
    return minor if minor.bit_length() < 64 else float(minor)  # JSON's writer takes 64 bits


def to_minor(major: float | int, currency: str) -> int:
    """12.5 USD -> 1250, rounded half up to the currency's smallest unit."""
    scaled = Decimal(str(major)) * 10 ** decimals(currency)
    return int(scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP))


@lru_cache(maxsize=4096)
def display(minor: int, currency: str, locale: str, *, is_whole: bool = False) -> str:
    """For people, in the form of a language: `$1,234.50` for `en`, `1.234,50 €` for `de`, `CA$5.00` for another dollar.

    Languages unknown to Unicode's locale data get the English form. An amount that `is_whole` is written without cents.
    """
    pattern = _pattern(locale, 0 if is_whole else decimals(currency))
    amount = Decimal(minor).scaleb(-decimals(currency))
    text = pattern.apply(amount, _known(locale), currency=currency, currency_digits=False)
    return _LETTER_BESIDE_DIGIT.sub("\N{NO-BREAK SPACE}", text)


@lru_cache(maxsize=256)
def _pattern(locale: str, places: int) -> NumberPattern:
    pattern = copy(_known(locale).currency_formats["standard"])
    pattern.frac_prec = (places, places)  # ISO 4217's, which the locale data has otherwise for some
    return pattern


@lru_cache(maxsize=256)
def _known(locale: str) -> Locale:
    for tag in (locale, locale.partition("-")[0]):
        with suppress(UnknownLocaleError, ValueError):
            return Locale.parse(tag, sep="-")
    return Locale("en")


def currency_label(code: str) -> str:
    """`US dollar (USD)`."""
    return f"{NAMES.get(code, code)} ({code})"


@lru_cache(maxsize=1)
def currency_choices() -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """For a select: the most used ones first, then the others by name."""
    others = sorted(CURRENCIES.difference(MOST_USED), key=lambda code: NAMES[code].casefold())
    return (
        ("Most used", tuple((code, currency_label(code)) for code in MOST_USED)),
        ("All others", tuple((code, currency_label(code)) for code in others)),
    )
