"""Image files as ``data:`` URLs, which is how a model gets them. Size and type are checked by content."""

from __future__ import annotations

import io
from base64 import b64encode
from functools import lru_cache
from pathlib import Path

from components.core.errors import ConfigError
from components.core.messages import Image

MAX_BYTES = 20_000_000
MAX_PIXELS = 100_000_000
_TYPES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_CONVERTED = (b"BM", b"II*\x00", b"MM\x00*")  # BMP and TIFF, which no endpoint takes, become PNG


def image_of(path: Path) -> Image:
    """The image of a file: PNG, JPEG, GIF, WebP, or BMP or TIFF turned into PNG, at most 20 MB.

    Samples that share a file share the image. Raises ConfigError.
    """
    if not path.is_file():
        raise ConfigError(f"no image file {path}")
    stat = path.stat()
    if not 0 < stat.st_size <= MAX_BYTES:
        raise ConfigError(f"{path}: an image must have 1 to {MAX_BYTES:,} bytes, found {stat.st_size:,}")
    return _read(path, stat.st_mtime_ns)


@lru_cache(maxsize=256)
def _read(path: Path, _changed: int) -> Image:
    raw = path.read_bytes()
    kind = next((kind for mark, kind in _TYPES.items() if raw.startswith(mark)), "")
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        kind = "image/webp"
    if not kind and raw.startswith(_CONVERTED):
        raw, kind = _as_png(raw, path), "image/png"
    if not kind:
        raise ConfigError(f"{path}: not an image that can be shown (PNG, JPEG, GIF, WebP, BMP, TIFF)")
    return Image(f"data:{kind};base64,{b64encode(raw).decode()}")


def _as_png(raw: bytes, path: Path) -> bytes:
    """The same picture as PNG, its first page where there are several."""
    from PIL import Image as Pictures
    from PIL import UnidentifiedImageError

    try:
        with Pictures.open(io.BytesIO(raw)) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise ConfigError(f"{path}: {picture.width} x {picture.height} pixels are too many")
            out = io.BytesIO()
            shown = picture if picture.mode in ("1", "L", "RGB", "RGBA", "P") else picture.convert("RGB")
            shown.save(out, "PNG")
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise ConfigError(f"{path}: the image cannot be read: {error}") from None
    return out.getvalue()
