"""Draws the pictures of the sample products from Microsoft's 3D Fluent Emoji, for `tools.vendor`.

A picture is a still life: `Piece`s on a backdrop, drawn in their order, each with a shadow. Coordinates are pixels of a
picture of 640 by 480; `x` and `y` are the middle of a piece's foot.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFilter

SIZE = (640, 480)
HERO_SIZE = (960, 640)
QUALITY = 84
ZOOM = 1.16  # of a product's picture, about the middle of its foot
HORIZON = 0.6  # of the height, where the wall ends and the table begins
SHADOWS = (
    (0.42, 90, 0.05),
    (0.52, 46, 0.1),
)  # width and darkness where it touches the table, and around; depth
NO_TINT = (255, 255, 255)

LOAF, CROISSANT, BAGUETTE, FLAT, PRETZEL = "1f35e", "1f950", "1f956", "1fad3", "1f968"
BUTTER, CHEESE, BACON, SANDWICH, STEW, SALAD = "1f9c8", "1f9c0", "1f953", "1f96a", "1f372", "1f957"
SUSHI, CAKE, SLICE, PIE, CHOCOLATE, TURNOVER = "1f363", "1f382", "1f370", "1f967", "1f36b", "1f95f"
MILK, COFFEE, TEAPOT, TEA, BOX, JAR = "1f95b", "2615", "1fad6", "1f375", "1f9c3", "1fad9"
OLIVE, TOMATO, POTATO, CARROT, LEMON, APPLE = "1fad2", "1f345", "1f954", "1f955", "1f34b", "1f34e"
GREEN_APPLE, STRAWBERRY, BEANS, PEPPER, EGGPLANT = "1f34f", "1f353", "1fad8", "1fad1", "1f346"
GARLIC, HERB, WHEAT, SUNFLOWER, BERRIES, ORANGE = "1f9c4", "1f33f", "1f33e", "1f33b", "1fad0", "1f34a"
FLOWER, BASKET, BALLOON, EGG = "1f33c", "1f9fa", "1f388", "1f95a"

CRUST, DARK, GOLDEN, COCOA, ALMOND = (
    (222, 168, 112),
    (172, 122, 88),
    (244, 196, 128),
    (150, 96, 72),
    (214, 166, 130),
)


@dataclass(frozen=True)
class Piece:
    """`tint` multiplies the colors, `flat` the height. `is_bare` takes the strawberry off the slice of cake."""

    code: str
    x: int
    y: int
    size: int = 280
    turn: int = 0  # degrees against the clock
    tint: tuple[int, int, int] = NO_TINT
    flat: float = 1
    is_mirrored: bool = False
    is_bare: bool = False
    is_floating: bool = False  # and throws no shadow


@dataclass(frozen=True)
class Scene:
    wall: str
    table: str
    pieces: tuple[Piece, ...]


BREAD, PASTRY, SWEET, DELI, DRINK = (
    ("#ead9bf", "#d3b98f"),
    ("#f0d9c4", "#dcb897"),
    ("#efd3d3", "#d9abb0"),
    ("#d6dfc6", "#b4c29b"),
    ("#cfdde2", "#a5bcc6"),
)

SCENES = {
    "country-sourdough": Scene(*BREAD, (
        Piece(WHEAT, 470, 350, 230),
        Piece(FLAT, 300, 420, 320, turn=12, tint=CRUST, flat=0.82),
    )),
    "seeded-rye": Scene(*BREAD, (
        Piece(SUNFLOWER, 190, 360, 210),
        Piece(LOAF, 350, 425, 320, tint=DARK),
    )),
    "baguette": Scene(*BREAD, (
        Piece(BAGUETTE, 260, 410, 310, turn=8),
        Piece(BAGUETTE, 400, 425, 310, turn=-22, tint=(246, 224, 196)),
    )),
    "olive-focaccia": Scene(*BREAD, (
        Piece(FLAT, 320, 410, 350, turn=-20, tint=GOLDEN, flat=0.66),
        Piece(OLIVE, 240, 330, 78, turn=20), Piece(OLIVE, 330, 295, 72, turn=-30),
        Piece(OLIVE, 400, 345, 80), Piece(HERB, 320, 385, 96, turn=30),
    )),
    "milk-rolls-six": Scene(*BREAD, (
        Piece(MILK, 520, 350, 190),
        Piece(FLAT, 190, 320, 150, tint=GOLDEN, flat=0.8), Piece(FLAT, 310, 315, 150, turn=30, tint=GOLDEN, flat=0.8),
        Piece(FLAT, 420, 325, 150, tint=GOLDEN, flat=0.8), Piece(FLAT, 140, 415, 165, turn=20, tint=GOLDEN, flat=0.8),
        Piece(FLAT, 280, 420, 165, tint=GOLDEN, flat=0.8), Piece(FLAT, 415, 418, 165, turn=-15, tint=GOLDEN, flat=0.8),
    )),
    "spelt-tin-loaf": Scene(*BREAD, (
        Piece(WHEAT, 160, 360, 230, is_mirrored=True),
        Piece(LOAF, 350, 425, 330, tint=(236, 204, 160), is_mirrored=True),
    )),
    "butter-croissant": Scene(*PASTRY, (
        Piece(BUTTER, 480, 340, 190),
        Piece(CROISSANT, 280, 420, 310),
    )),
    "pain-au-chocolat": Scene(*PASTRY, (
        Piece(CHOCOLATE, 470, 370, 220, turn=-8),
        Piece(BAGUETTE, 270, 425, 310, turn=-36, tint=CRUST, flat=0.9),
    )),
    "cinnamon-knot": Scene(*PASTRY, (
        Piece(PRETZEL, 420, 330, 220, turn=-14, tint=(214, 150, 110)),
        Piece(PRETZEL, 260, 425, 300, turn=10, tint=(236, 178, 130)),
    )),
    "almond-croissant": Scene(*PASTRY, (
        Piece(CROISSANT, 330, 400, 310, tint=(255, 226, 178), is_mirrored=True, turn=-8),
        *(Piece(EGG, x, y, 62, turn=turn, tint=ALMOND) for x, y, turn in ((130, 400, 60), (190, 425, -50), (500, 425, 75))),
    )),
    "apple-turnover": Scene(*PASTRY, (
        Piece(GREEN_APPLE, 470, 350, 210),
        Piece(TURNOVER, 270, 420, 310, tint=(252, 206, 140)),
    )),
    "plum-danish": Scene(*PASTRY, (
        Piece(PIE, 290, 410, 300, flat=0.85, tint=(255, 220, 170)),
        Piece(BERRIES, 290, 335, 130, tint=(232, 150, 210)), Piece(BERRIES, 490, 420, 150, tint=(232, 150, 210), turn=20),
    )),
    "carrot-cake": Scene(*SWEET, (
        Piece(CARROT, 485, 380, 200),
        Piece(SLICE, 280, 430, 320, is_bare=True, tint=(250, 206, 150)),
        Piece(CARROT, 292, 180, 84),
    )),
    "chocolate-torte": Scene(*SWEET, (
        Piece(CHOCOLATE, 490, 370, 200),
        Piece(SLICE, 280, 430, 320, is_bare=True, tint=COCOA),
        Piece(STRAWBERRY, 300, 180, 84),
    )),
    "lemon-drizzle-loaf": Scene(*SWEET, (
        Piece(LEMON, 480, 400, 190, turn=-10),
        Piece(LOAF, 280, 420, 320, tint=(255, 232, 150)),
    )),
    "victoria-sponge": Scene(*SWEET, (
        Piece(STRAWBERRY, 150, 400, 130, turn=16), Piece(STRAWBERRY, 500, 415, 150, turn=-20),
        Piece(SLICE, 320, 420, 330),
    )),
    "baked-cheesecake": Scene(*SWEET, (
        Piece(SLICE, 300, 425, 330, is_bare=True, tint=(255, 244, 206)),
        Piece(BERRIES, 500, 420, 150), Piece(BERRIES, 305, 190, 86, turn=20),
    )),
    "birthday-cake-to-order": Scene(*SWEET, (
        Piece(BALLOON, 510, 340, 230, is_floating=True), Piece(BALLOON, 140, 330, 190, is_mirrored=True, is_floating=True),
        Piece(CAKE, 315, 430, 320),
    )),
    "ham-and-gruyere-baguette": Scene(*DELI, (
        Piece(CHEESE, 480, 340, 210), Piece(BACON, 160, 335, 200),
        Piece(BAGUETTE, 310, 435, 320, turn=-30),
    )),
    "roast-vegetable-focaccia": Scene(*DELI, (
        Piece(PEPPER, 140, 360, 190), Piece(EGGPLANT, 500, 365, 220),
        Piece(SANDWICH, 310, 425, 310),
    )),
    "tomato-soup-500-ml": Scene(*DELI, (
        Piece(STEW, 290, 415, 330),
        Piece(TOMATO, 500, 425, 170), Piece(HERB, 130, 420, 130),
    )),
    "potato-salad-300-g": Scene(*DELI, (
        Piece(POTATO, 490, 390, 180, turn=20), Piece(POTATO, 130, 380, 150, turn=-40),
        Piece(SALAD, 310, 425, 310),
    )),
    "marinated-olives-200-g": Scene(*DELI, (
        Piece(ORANGE, 490, 330, 190), Piece(GARLIC, 150, 340, 180),
        Piece(OLIVE, 250, 410, 170), Piece(OLIVE, 400, 425, 180, turn=-40), Piece(OLIVE, 320, 300, 150, turn=30),
    )),
    "smoked-salmon-100-g": Scene(*DELI, (
        Piece(LEMON, 500, 360, 180),
        Piece(SUSHI, 290, 420, 310, tint=(255, 226, 206)),
    )),
    "filter-coffee-beans-250-g": Scene(*DRINK, (
        Piece(JAR, 310, 400, 320),
        Piece(BEANS, 270, 350, 130, tint=(176, 132, 110)), Piece(BEANS, 345, 355, 130, turn=70, tint=(176, 132, 110)),
        Piece(BEANS, 510, 430, 140, turn=150, tint=(196, 150, 120)), Piece(BEANS, 130, 430, 120, turn=40, tint=(196, 150, 120)),
    )),
    "espresso-beans-250-g": Scene(*DRINK, (
        Piece(COFFEE, 300, 410, 310),
        Piece(BEANS, 510, 420, 160, turn=40, tint=(150, 100, 80)), Piece(BEANS, 120, 430, 120, turn=200, tint=(150, 100, 80)),
    )),
    "breakfast-tea-50-bags": Scene(*DRINK, (
        Piece(TEAPOT, 450, 350, 250),
        Piece(TEA, 230, 425, 260),
    )),
    "cloudy-apple-juice-1-l": Scene(*DRINK, (
        Piece(GREEN_APPLE, 480, 410, 180), Piece(APPLE, 150, 400, 170),
        Piece(BOX, 310, 420, 320),
    )),
    "elderflower-lemonade": Scene(*DRINK, (
        Piece(FLOWER, 150, 370, 210),
        Piece(MILK, 315, 410, 320, tint=(255, 244, 150)),
        Piece(LEMON, 490, 425, 180),
    )),
    "mulled-cider-750-ml": Scene(*DRINK, (
        Piece(APPLE, 150, 380, 180), Piece(ORANGE, 500, 390, 180),
        Piece(COFFEE, 315, 420, 290, tint=(255, 190, 140)),
    )),
}  # fmt: skip

HERO = Scene("#ecd9ba", "#cfae7c", (
    Piece(WHEAT, 122, 438, 310, is_mirrored=True), Piece(WHEAT, 824, 452, 338),
    Piece(BAGUETTE, 446, 384, 405, turn=30), Piece(BAGUETTE, 581, 398, 405, turn=-4, tint=CRUST),
    Piece(BASKET, 514, 573, 459),
    Piece(FLAT, 244, 566, 297, turn=12, tint=CRUST, flat=0.84),
    Piece(CROISSANT, 770, 586, 284), Piece(LOAF, 649, 593, 256, tint=GOLDEN),
    Piece(BUTTER, 406, 600, 176),
))  # fmt: skip


def draw_all(assets: Path, target: Path) -> Iterator[Path]:
    """`assets` has the emoji, as `<code point>.webp` of 256 by 256. Yields the files written to `target`."""
    for name, scene in SCENES.items():
        yield draw_product(scene, assets, target / f"{name}.webp")
    yield draw(HERO, assets, target / "hero.webp", HERO_SIZE)


def draw_product(scene: Scene, assets: Path, target: Path) -> Path:
    middle, foot = SIZE[0] // 2, SIZE[1] - 40
    zoomed = (
        replace(
            piece,
            x=round(middle + (piece.x - middle) * ZOOM),
            y=round(foot + (piece.y - foot) * ZOOM),
            size=round(piece.size * ZOOM),
        )
        for piece in scene.pieces
    )
    return draw(replace(scene, pieces=tuple(zoomed)), assets, target, SIZE)


def draw(scene: Scene, assets: Path, target: Path, size: tuple[int, int]) -> Path:
    picture = _backdrop(scene, size)
    for piece in scene.pieces:
        _place(picture, piece, _sprite(piece, assets))
    picture.convert("RGB").save(target, "WEBP", quality=QUALITY, method=6)
    return target


def _backdrop(scene: Scene, size: tuple[int, int]) -> Image.Image:
    """A wall that bends into a table, with light from above the middle."""
    width, height = size
    wall, table = (Image.new("RGB", size, color) for color in (scene.wall, scene.table))
    bend = Image.new("L", size, 0)
    ImageDraw.Draw(bend).rectangle((0, int(height * HORIZON), width, height), fill=255)
    bend = bend.filter(ImageFilter.GaussianBlur(height / 10))
    picture = Image.composite(table, wall, bend)
    light = Image.new("L", size, 0)
    ImageDraw.Draw(light).ellipse((width * 0.1, -height * 0.2, width * 0.9, height * 0.95), fill=110)
    light = light.filter(ImageFilter.GaussianBlur(height / 5))
    return Image.composite(Image.new("RGB", size, "white"), picture, light).convert("RGBA")


def _sprite(piece: Piece, assets: Path) -> Image.Image:
    sprite = Image.open(assets / f"{piece.code}.webp").convert("RGBA")
    if piece.is_bare:
        sprite = _without_strawberry(sprite)
    alpha = sprite.getchannel("A")
    colors = ImageChops.multiply(sprite.convert("RGB"), Image.new("RGB", sprite.size, piece.tint))
    colors.putalpha(alpha)
    if piece.is_mirrored:
        colors = colors.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    turned = colors.rotate(piece.turn, Image.Resampling.BICUBIC, expand=True)
    scale = piece.size / sprite.width
    flat = turned.resize(
        (round(turned.width * scale), round(turned.height * scale * piece.flat)), Image.Resampling.LANCZOS
    )
    return flat.crop(flat.getchannel("A").getbbox())


def _without_strawberry(sprite: Image.Image) -> Image.Image:
    """The slice with icing where the strawberry was: its box, and the two edges of the icing behind it."""
    box, left, apex, right = (90, 6, 152, 63), (20, 97), (111, 16), (220, 42)
    fruit = Image.new("L", sprite.size, 0)
    for x in range(box[0], box[2]):
        for y in range(box[1], box[3]):
            red, green, blue, alpha = sprite.getpixel((x, y))  # type: ignore[misc]
            if alpha and (red - green > 46 or green - blue > 50):
                fruit.putpixel((x, y), 255)
    fruit = fruit.filter(ImageFilter.MaxFilter(5))
    top = Image.new("L", sprite.size, 0)
    ImageDraw.Draw(top).polygon((left, apex, right, (111, 90)), fill=255)
    icing = Image.new("RGBA", sprite.size, (244, 213, 176, 255))
    icing.putalpha(top.filter(ImageFilter.GaussianBlur(0.7)))
    return Image.composite(icing, sprite, fruit.filter(ImageFilter.GaussianBlur(1)))


def _place(picture: Image.Image, piece: Piece, sprite: Image.Image) -> None:
    left, top = piece.x - sprite.width // 2, piece.y - sprite.height
    touch = () if piece.is_floating else SHADOWS
    for spread, dark, depth in touch:
        shadow = Image.new("L", picture.size, 0)
        half, high = sprite.width * spread, sprite.width * depth
        ImageDraw.Draw(shadow).ellipse(
            (piece.x - half, piece.y - high * 1.4, piece.x + half, piece.y + high * 0.6), fill=dark
        )
        shadow = shadow.filter(ImageFilter.GaussianBlur(max(3, sprite.width * depth / 2)))
        picture.paste(Image.new("RGB", picture.size, "#3a2414"), (0, 0), shadow)
    picture.alpha_composite(sprite, (max(0, left), max(0, top)))
