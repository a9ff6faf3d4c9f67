"""Spellings of one address and of one number, and texts that are neither, as people copy and type them."""

EMAIL = "kim@xn--bcher-kva.example"
EMAILS = [
    "kim@bücher.example", "Kim@bücher.example", "KIM@BÜCHER.EXAMPLE", "kim@BÜCHER.example", "kim@Bücher.Example",
    "kim@bu\u0308cher.example", "kim@BU\u0308CHER.example", "KIM@bU\u0308cher.EXAMPLE",
    "kim@xn--bcher-kva.example", "kim@XN--BCHER-KVA.example", "Kim@Xn--Bcher-Kva.Example",
    "kim@bücher\u3002example", "kim@bücher\uff0eexample", "kim@bücher\uff61example",
    "kim@ｂücher.example", "kim@bücher.ＥＸＡＭＰＬＥ", "\u212aim@bücher.example", "\u212aIM@xn--bcher-kva.example",
    " kim@bücher.example", "kim@bücher.example \t", "\u00a0kim@bücher.example\u3000", "\u2003KIM@BU\u0308CHER.example\u2003",
]  # fmt: skip
BAD_EMAILS = [
    "kim@bücher.example\u200b", "\ufeffkim@bücher.example", "kim@bücher\u2060.example", "kim@bü\u00adcher.example",
    "\u202akim@bücher.example\u202c", "kim\u200e@bücher.example", "kim@bücher.example\u2069", "k\u200dim@bücher.example",
    "kim@bücher.example\ufe0f", "kim@bücher.example\u180e", "kim\u3164@bücher.example", "kim@bücher\u2800.example",
    "ki m@bücher.example", "kim@\u00a0bücher.example", "kim@bücher.\u3000example", "kim@bücher.example\x00",
    '"kim"@bücher.example', '"kim x"@bücher.example', "kim/x@bücher.example", "kim:x@bücher.example",
    "<kim@bücher.example>", "Kim <kim@bücher.example>", "kim>@bücher.example", "kim@[IPv6:::1]", "evil.example/unlock@bücher.example",
    "k\u0131m@bücher.example", "kïm@bücher.example", "kim", "kim@", "@bücher.example", "kim@bücher", "kim@bücher..example",
    "kim@-bücher.example", "kim@x_y.example", "kim@" + "ü" * 60 + ".example", "kim@" + "bücher." * 35 + "example",
]  # fmt: skip

PHONE = "+49301234567"
PHONES = [
    "+49301234567", "+49 30 1234567", "+49 (30) 123-45-67", "+49.30.1234567", "+49/30/1234567", "0049 30 1234567", "00 49 30 1234567",
    "+49\u00a030\u00a01234567", "+49\u202f30\u20091234567", "+49\u200330\u20071234567", "\u3000+49\u300030\u30001234567",
    "\u202a+49 30 1234567\u202c", "\u200e+49 30 1234567", "\u2066+49 30 1234567\u2069", "+49\u200b30\u20601234567\ufeff",
    "+49\u00ad30\u00ad1234567", "＋49 30 1234567", "＋４９（３０）１２３４５６７", "+٤٩ ٣٠ ١٢٣٤٥٦٧", "+४९ ३० १२३४५६७",
    "+49\u201130\u20131234567", "+49\u221230\u20141234567", "+49 30 1234567 ext. 4", "+49 30 1234567, ask for Kim", "+49 30 1234567;4",
    "tel:+49-30-1234567", "[+49] {30} 1234567", "+49•30•1234567",
]  # fmt: skip
BAD_PHONES = [
    "ask at the bar", "12", "1 2", "1-2 ext. 345", "+", "+12", "--", "00", "(0)1", "½", "1\u200b2", "①②", "٣٤", "no. 7", "+4 9 ext. 30",
    "\u200b\u200b", "tel:", "x\u0301", "1" * 41, "+" + "1" * 40,
]  # fmt: skip
