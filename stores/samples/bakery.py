"""The goods, people and words of a small bakery with a deli counter, for `stores.samples.store`.

Prices are in hundredths. Stock is "pieces, threshold": None is not tracked, 0 is sold out, below the
threshold is low.
"""

from typing import Any, NamedTuple

from stores.enums import Accent, Headings


class Goods(NamedTuple):
    name: str
    price: int
    stock: int | None
    threshold: int | None
    description: str
    is_available: bool = True


SHELVES: dict[str, list[Goods]] = {
    "Bread": [
        Goods(
            "Country Sourdough", 690, 24, 6, "Two days in the making, with a dark crust and an open crumb."
        ),
        Goods("Seeded Rye", 640, 14, 5, "Dense and moist, with sunflower, flax and pumpkin seeds."),
        Goods("Baguette", 320, 40, 10, "Baked three times a day. Best eaten before you are home."),
        Goods("Olive Focaccia", 550, 3, 5, "Green olives, rosemary and a generous hand with the oil."),
        Goods("Milk Rolls, six", 420, 18, 6, "Soft rolls for breakfast, or for small hands."),
        Goods("Spelt Tin Loaf", 580, 0, 4, "Wholegrain spelt from a mill twelve miles away."),
    ],
    "Pastries": [
        Goods("Butter Croissant", 290, None, None, "Twenty-seven layers and nothing but butter."),
        Goods("Pain au Chocolat", 340, None, None, "Two bars of dark chocolate in croissant dough."),
        Goods("Cinnamon Knot", 360, 16, 4, "Cardamom dough, cinnamon, pearl sugar."),
        Goods("Almond Croissant", 410, 2, 4, "Yesterday's croissant, soaked, filled and baked again."),
        Goods("Apple Turnover", 380, 12, 4, "Tart apples and a little lemon in puff pastry."),
        Goods("Plum Danish", 390, 0, 4, "Only while there are plums.", is_available=False),
    ],
    "Cakes": [
        Goods("Carrot Cake", 3200, 4, 2, "Walnuts, cream cheese frosting, serves ten."),
        Goods("Chocolate Torte", 3600, 3, 2, "Flourless, nearly a truffle. Serves twelve."),
        Goods("Lemon Drizzle Loaf", 1450, 7, 3, "Soaked while still warm, with a crackling glaze."),
        Goods("Victoria Sponge", 2800, 2, 2, "Raspberry jam, whipped cream, a dusting of sugar."),
        Goods("Baked Cheesecake", 3400, 1, 2, "Vanilla, sour cream, a biscuit base. Serves twelve."),
        Goods("Birthday Cake to Order", 4800, None, None, "Tell us the name and the day in the note."),
    ],
    "Deli": [
        Goods("Ham and Gruyère Baguette", 780, None, None, "Cooked ham, aged Gruyère, mustard butter."),
        Goods("Roast Vegetable Focaccia", 740, None, None, "Peppers, aubergine, goat's cheese, basil."),
        Goods("Tomato Soup, 500 ml", 650, 20, 5, "From roasted tomatoes. Heat it gently."),
        Goods("Potato Salad, 300 g", 520, 9, 4, "Waxy potatoes, chives and a mustard dressing."),
        Goods("Marinated Olives, 200 g", 490, 15, 5, "Orange peel, fennel seed and garlic."),
        Goods("Smoked Salmon, 100 g", 990, 0, 3, "Smoked over oak on the quay."),
    ],
    "Drinks": [
        Goods("Filter Coffee Beans, 250 g", 1150, 22, 6, "Washed Ethiopian, roasted light for filter."),
        Goods("Espresso Beans, 250 g", 1150, 19, 6, "Chocolate and hazelnut, good with milk."),
        Goods("Breakfast Tea, 50 bags", 720, 30, 8, "Malty Assam and Kenyan leaves."),
        Goods("Cloudy Apple Juice, 1 l", 540, 5, 6, "Pressed from windfalls by a neighbour."),
        Goods("Elderflower Lemonade", 380, 26, 8, "Our own cordial, sparkling water, lemon."),
        Goods("Mulled Cider, 750 ml", 890, 11, 4, "Warm it, don't boil it.", is_available=False),
    ],
}

# Of `StoreSettings`.
LOOK: dict[str, Any] = {
    "accent": Accent.AMBER,
    "headings": Headings.CLASSIC,
    "tagline": "Bread worth getting up for",
    "hero_text": "Baked by hand before sunrise, from flour that is milled twelve miles away. Collect it at the "
    "counter or have it brought to your door.",
}

CUSTOMERS = [
    ("Amelia Brooks", "amelia.brooks@example.com", "+1 555 0101", "14 Mill Lane, Portside"),
    ("Noah Fischer", "noah.fischer@example.com", "", "3 Harbour Row, Flat 2, Portside"),
    ("Priya Raman", "priya.raman@example.com", "+1 555 0117", "88 Station Road, Portside"),
    ("Tomasz Nowak", "", "+1 555 0122", "27 Chapel Street, Portside"),
    ("Grace Okafor", "grace.okafor@example.com", "+1 555 0134", "5 Orchard Close, Upper Portside"),
    ("Luca Moretti", "luca.moretti@example.com", "", "61 Quay Street, Portside"),
    ("Hannah Lindqvist", "hannah.l@example.com", "+1 555 0140", "9 Lighthouse Walk, Portside"),
    ("Daniel Reyes", "daniel.reyes@example.com", "+1 555 0152", "112 Market Street, Portside"),
    ("Chloé Martin", "chloe.martin@example.com", "", "40 Garden Terrace, Portside"),
    ("Samir Haddad", "samir.haddad@example.com", "+1 555 0166", "18 Bridge Road, Portside"),
    ("Ella Thompson", "", "+1 555 0173", "2 Rope Yard, Portside"),
    ("Yuki Tanaka", "yuki.tanaka@example.com", "+1 555 0188", "75 Hill Rise, Upper Portside"),
]

NOTES = [
    "Please ring twice, the bell is shy.",
    "Sliced, please.",
    "Leave it with the neighbour at number 16 if we are out.",
    "It is for a birthday: “Happy 7th, Mila”.",
    "No nuts in the house, thank you for packing it apart.",
]

# Product, stars, what was said, by whom.
REVIEWS: list[tuple[str, int, str, str]] = [
    ("Country Sourdough", 5, "The crust sings when you squeeze it. Best loaf in town.", "Amelia B."),
    ("Country Sourdough", 5, "Still good on day four, if it lasts that long.", "Noah F."),
    ("Country Sourdough", 4, "Lovely flavour. Mine was a shade too dark underneath.", "Grace O."),
    ("Country Sourdough", 2, "Huge hole in the middle, the jam fell straight through.", "Piet"),
    ("Seeded Rye", 5, "Toasted, with salted butter. That is the whole review.", "Hannah L."),
    ("Seeded Rye", 4, "Heavy in the best way.", "Tomasz N."),
    ("Seeded Rye", 3, "Good, but the seeds get everywhere.", "Ella T."),
    ("Baguette", 5, "Half of it was gone before I reached the car.", "Luca M."),
    ("Baguette", 4, "Crisp in the morning. By the evening it needs the oven.", "Chloé M."),
    ("Olive Focaccia", 5, "Generous with the olives and the oil. Bring napkins.", "Samir H."),
    ("Olive Focaccia", 4, "Great with soup. A little salty for the children.", "Priya R."),
    ("Milk Rolls, six", 5, "The only thing my toddler agrees to eat.", "Daniel R."),
    ("Milk Rolls, six", 3, "Soft and nice, smaller than I expected for the price.", "Yuki T."),
    ("Spelt Tin Loaf", 4, "Honest bread. Often sold out by noon, so order ahead.", "Grace O."),
    ("Butter Croissant", 5, "Shatters, then melts. Paris, but without the train.", "Chloé M."),
    ("Butter Croissant", 5, "Saturday is croissant day in our house now.", "Amelia B."),
    ("Butter Croissant", 4, "Very good, though a bit pale this time.", "Noah F."),
    ("Butter Croissant", 1, "Arrived squashed under the coffee beans. Sad.", "M. Vance"),
    ("Pain au Chocolat", 5, "Two bars of chocolate! Other bakeries, take note.", "Ella T."),
    ("Pain au Chocolat", 4, "Ten seconds in the microwave and it is perfect.", "Luca M."),
    ("Cinnamon Knot", 5, "The cardamom makes it. I dream about these.", "Hannah L."),
    ("Cinnamon Knot", 3, "Tasty but dry at the edges.", "Daniel R."),
    ("Almond Croissant", 5, "Sticky, nutty, enormous. Share it. Or don't.", "Priya R."),
    ("Apple Turnover", 4, "Properly tart apples, not too sweet.", "Tomasz N."),
    ("Carrot Cake", 5, "Fed eleven at the office and two asked for the address.", "Samir H."),
    ("Carrot Cake", 4, "Moist, lots of walnuts. I'd take a little less frosting.", "Yuki T."),
    ("Chocolate Torte", 5, "A small slice is enough. I had three.", "Grace O."),
    ("Chocolate Torte", 3, "Too rich for me, the guests were happy.", "Ella T."),
    ("Lemon Drizzle Loaf", 5, "Sharp, sticky and gone in a day.", "Amelia B."),
    ("Victoria Sponge", 2, "Cream had turned on a hot day. They did refund me at once.", "Noah F."),
    ("Baked Cheesecake", 5, "Smooth all the way through, and not a crack in it.", "Luca M."),
    ("Ham and Gruyère Baguette", 4, "A proper lunch. The mustard butter is clever.", "Daniel R."),
    ("Ham and Gruyère Baguette", 3, "Good filling, but a little hard to bite into.", "Chloé M."),
    ("Roast Vegetable Focaccia", 5, "Even the meat eaters order this one.", "Priya R."),
    ("Tomato Soup, 500 ml", 4, "Tastes of actual tomatoes. Needs a pinch of salt.", "Hannah L."),
    ("Potato Salad, 300 g", 2, "Mostly dressing in my tub.", "K. Ellis"),
    ("Marinated Olives, 200 g", 5, "Orange and fennel, who knew? We do now.", "Samir H."),
    ("Espresso Beans, 250 g", 5, "Fresh roast date on every bag. Pulls a lovely shot.", "Yuki T."),
    ("Filter Coffee Beans, 250 g", 3, "Too light for my machine, fine as filter.", "Tomasz N."),
    ("Cloudy Apple Juice, 1 l", 1, "The bottle leaked over everything else in the bag.", "Ella T."),
]

# Slug, title, HTML, published.
PAGES: list[tuple[str, str, str, bool]] = [  # texts in Markdown
    (
        "about",
        "About us",
        (
            "## Flour, water, salt and time\n\n"
            "We light the oven at three in the morning, so that the first loaves are on the shelf at seven. "
            "Everything is made by hand in the room behind the counter.\n\n"
            "Our flour comes from a mill twelve miles away, our butter from a dairy that knows its cows by "
            "name, and our deli counter from whatever is good that week.\n\n"
            "> If it needs a label to say that it is fresh, it isn't."
        ),
        True,
    ),
    (
        "delivery",
        "Delivery and pickup",
        (
            "## Delivery\n\n"
            "We deliver in town from Tuesday to Saturday. Order before 18:00 for the next morning.\n\n"
            "## Pickup\n\n"
            "Orders for pickup wait for you at the counter. Just give your name.\n\n"
            "- Tuesday to Friday: 7:00 to 18:00\n"
            "- Saturday: 7:00 to 14:00\n"
            "- Sunday and Monday: the oven rests"
        ),
        True,
    ),
    (
        "contact",
        "Contact",
        (
            "Write to us at **hello@example.com**, or call **+1 555 0199** while we are open.\n\n"
            "For cakes to order, please give us two days."
        ),
        True,
    ),
    (
        "holiday-orders",
        "Holiday orders",
        (
            "The list for the holidays opens soon. *Prices to be confirmed.*\n\n"
            "- Stollen\n"
            "- Gingerbread\n"
            "- Cheese straws"
        ),
        False,
    ),
]
