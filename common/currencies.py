"""The currencies that a business may use: the active ones of ISO 4217, with their English names.

Codes for precious metals, funds, units of account and testing are left out, because they don't price goods.
"""

from typing import Final

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


def currency_label(code: str) -> str:
    """`US dollar (USD)`."""
    return f"{NAMES.get(code, code)} ({code})"


def currency_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """For a select: the most used ones first, then the others by name."""
    others = sorted(CURRENCIES.difference(MOST_USED), key=lambda code: NAMES[code].casefold())
    return [
        ("Most used", [(code, currency_label(code)) for code in MOST_USED]),
        ("All others", [(code, currency_label(code)) for code in others]),
    ]
