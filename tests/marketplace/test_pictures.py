"""Uploaded pictures: what is taken, what is kept, how it is served."""

from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from PIL import Image

from marketplace.models import App, Picture
from marketplace.services.pictures import MAX_BYTES, BadPicture, decode, store
from tests.pictures import bomb, gray_png, moving, picture, upload

SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'


@pytest.mark.spec("Contract 2 Developer API", "Pictures are PNG, JPEG or WebP, recognized by their content")
@pytest.mark.parametrize(
    ("kind", "content_type"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/webp")]
)
def test_picture_is_served_as_what_it_is(app: App, client: Client, kind: str, content_type: str) -> None:
    kept = store(app, decode(upload(picture(kind), name="evil.html")), now=timezone.now())
    response = client.get(f"/media/pictures/{kept.id}")
    assert response.status_code == 200
    assert response["Content-Type"] == content_type
    assert response["Content-Disposition"] == "inline"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"
    served = Image.open(BytesIO(response.getvalue()))
    assert (served.format, served.size) == (kind, (32, 32)) == (kind, (kept.width, kept.height))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("truncated PNG", picture(size=(64, 64))[:-30]),
        ("truncated JPEG", picture("JPEG", size=(64, 64))[:-40]),
        ("truncated WebP", picture("WEBP", size=(64, 64))[:-10]),
        ("PNG header alone", picture()[:40]),
        ("PNG with a wrong checksum", picture()[:45] + b"\x00\x01" + picture()[47:]),
        ("SVG", SVG),
        ("renamed text", b"<script>alert(1)</script>"),
        ("GIF", picture("GIF")),
        ("BMP", picture("BMP")),
        ("TIFF", picture("TIFF")),
        ("empty file", b""),
        ("animated PNG", moving("PNG")),
        ("animated WebP", moving("WEBP")),
    ],
)
def test_picture_that_is_none_is_refused(name: str, content: bytes) -> None:
    with pytest.raises(BadPicture, match="Choose a"):
        decode(upload(content))


@pytest.mark.parametrize("size", [(4_100, 4_100), (10_000, 10_000), (60_000, 60_000)])
def test_picture_with_too_many_pixels_is_refused_unopened(size: tuple[int, int]) -> None:
    with pytest.raises(BadPicture, match="megapixels"):
        decode(upload(bomb(*size)))


@pytest.mark.spec("Contract 2 Developer API", "A picture has at most 2 MiB")
def test_picture_of_one_byte_too_many_is_refused() -> None:
    padded = picture("JPEG") + b"\x00" * MAX_BYTES
    assert decode(upload(padded[:MAX_BYTES])).format == "JPEG"
    with pytest.raises(BadPicture, match="2 MiB"):
        decode(upload(padded[: MAX_BYTES + 1]))


def test_picture_loses_its_metadata_and_what_hides_behind_it() -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    exif[0x0112] = 6  # turned by 90 degrees
    content = picture("JPEG", size=(40, 20), exif=exif, comment=b"a secret") + b"<script>alert(1)</script>"
    kept = decode(upload(content))
    assert (kept.width, kept.height) == (20, 40)
    for hidden in (b"taken at home", b"a secret", b"<script>"):
        assert hidden in content
        assert hidden not in kept.content


def test_picture_keeps_its_transparency() -> None:
    indexed = BytesIO()
    Image.new("P", (4, 4), 0).save(indexed, "PNG", transparency=0)
    kept = decode(upload(indexed.getvalue()))
    assert Image.open(BytesIO(kept.content)).convert("RGBA").getpixel((0, 0))[3] == 0


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("transparent", ["black", "white", ""])
def test_gray_picture_keeps_its_shades_and_its_transparency(depth: int, transparent: str) -> None:
    """Whole and as a thumbnail, however many bits the file has for a shade."""
    white = 2**depth - 1
    shades = [0, white, white // 2]
    key = {"black": 0, "white": white}.get(transparent)
    kept = decode(upload(gray_png(depth, shades, key=key, width=960)))
    for each in (kept, kept.scaled(96)):
        shown = Image.open(BytesIO(each.content)).convert("RGBA")
        seen = [shown.getpixel((int(shown.width * place), 0)) for place in (0.15, 0.5, 0.85)]
        assert [pixel[3] for pixel in seen] == [255 * (shade != key) for shade in shades]
        assert [pixel[0] for pixel in seen if pixel[3]] == [
            255 * shade // white for shade in shades if shade != key
        ]


def test_picture_keeps_its_gamma() -> None:
    """Browsers show a file of gamma 1.8 darker or lighter without it."""
    kept = decode(upload(gray_png(8, [0, 100], gamma=55_556, width=200)))
    for each in (kept, kept.scaled(50)):
        assert Image.open(BytesIO(each.content)).info["gamma"] == pytest.approx(0.55556)


def test_heic_photo_is_refused_with_what_to_set() -> None:
    with pytest.raises(BadPicture, match="Most Compatible"):
        decode(upload(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"))


@pytest.mark.long
def test_picture_of_a_deleted_app_or_without_file_is_404(app: App, client: Client) -> None:
    kept = store(app, decode(upload()), now=timezone.now())
    kept.file.storage.delete(kept.file.name)
    assert client.get(f"/media/pictures/{kept.id}").status_code == 404
    other = store(app, decode(upload()), now=timezone.now())
    App.objects.update(deleted_at=timezone.now())
    assert client.get(f"/media/pictures/{other.id}").status_code == 404


@pytest.mark.parametrize("name", ["x", "../settings.py", "00000000-0000-0000-0000-000000000000"])
def test_picture_unknown_is_404(client: Client, db: Any, name: str) -> None:
    assert client.get(f"/media/pictures/{name}").status_code == 404
    assert not Picture.objects.exists()


def test_picture_is_only_read(app: App, client: Client) -> None:
    kept = store(app, decode(upload()), now=timezone.now())
    assert client.post(f"/media/pictures/{kept.id}").status_code == 405
    assert client.get(f"/media/pictures/{kept.id}").status_code == 200
