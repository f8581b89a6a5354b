"""Files that belong to a sample: images, databases and documents, and how tools reach them by name."""

import io
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath

from components.core.errors import ConfigError, ToolError
from components.core.messages import Image
from components.files.rows import Row

MAX_BYTES = 20_000_000
MAX_PIXELS = 100_000_000
_TYPES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_CONVERTED = (b"BM", b"II*\x00", b"MM\x00*")  # BMP and TIFF, which no endpoint takes, become PNG


@dataclass(frozen=True)
class Attached:
    """What a sample has besides its text: ``inputs`` kind -> name, the images in that order, ``files`` name -> path."""

    inputs: Mapping[str, str] = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SampleFiles:
    """The read-only state of tools that read files. ``paths``: name of an input -> file or folder."""

    paths: Mapping[str, Path] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        """Return the path of an input. Raises ToolError for a name that the problem does not show, or a lost file."""
        if name not in self.paths:
            have = ", ".join(map(repr, self.paths)) or "none"
            raise ToolError(f"There is no input {name!r}; this task's inputs are: {have}.", "not_found")
        if not self.paths[name].exists():
            raise ToolError(f"The input {name!r} cannot be read: its file is missing.", "not_found")
        return self.paths[name]

    def fork(self) -> "SampleFiles":
        """Return itself: nothing is ever changed."""
        return self

    def close(self) -> None:
        """Do nothing: no file stays open."""


def attach(
    images: Sequence[Path] = (), database: Path | None = None, documents: Path | None = None, folder: str = ""
) -> Attached:
    """Attach files under short names: images by file name, a database by its stem, documents as ``folder`` or by their
    folder's name. A name that is taken gets a number in front. Raises ConfigError for an image that cannot be read."""
    kinds = [("image" if n == 1 else f"image_{n}", path, path.name) for n, path in enumerate(images, 1)]
    kinds += [("sql_database", database, database.stem)] if database is not None else []
    kinds += [("upload_files", documents, folder or documents.name)] if documents is not None else []
    inputs: dict[str, str] = {}
    files: dict[str, str] = {}
    for number, (kind, path, name) in enumerate(kinds, 1):
        inputs[kind] = name = f"{number}_{name}" if name in files else name
        files[name] = str(path.resolve())
    return Attached(inputs, tuple(read_image(path) for path in images), files)


def path_below(root: Path, row: Row, key: str, name: str, how: str = "") -> Path:
    """Return the absolute path that ``row[key]`` names below ``root``. Raises ConfigError for a name that leads out of
    the root, also through a link, and for a path that does not exist; ``how`` says how to get it."""
    base = path = root.resolve()
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    if not (posix.is_absolute() or windows.anchor or ".." in windows.parts):
        with suppress(OSError, RuntimeError, ValueError):  # too long, links in a circle, or no name of a file
            found = (base / posix).resolve()
            found.exists()
            path = found
    if path == base or not path.is_relative_to(base):
        raise row.error(key, f"must be a relative path below {root}, found {name!r:.200}")
    if not path.exists():
        raise row.error(key, f"there is no {path}{f'; {how}' if how else ''}")
    for below in path.rglob("*") if path.is_dir() else ():
        if not below.resolve().is_relative_to(base):
            raise row.error(key, f"{name!r:.200} holds {below.name!r}, a link that leads out of {root}")
    return path


def read_image(path: Path) -> Image:
    """Read a file as a ``data:`` URL: PNG, JPEG, GIF, WebP, or BMP or TIFF turned into PNG, at most 20 MB. Size and
    type are checked by content. Samples that share a file share the image. Raises ConfigError."""
    if not path.is_file():
        raise ConfigError(f"no image file {path}")
    stat = path.stat()
    if not 0 < stat.st_size <= MAX_BYTES:
        raise ConfigError(f"{path}: an image must have 1 to {MAX_BYTES:,} bytes, found {stat.st_size:,}")
    return _image(path, stat.st_mtime_ns)


@lru_cache(maxsize=256)
def _image(path: Path, _changed: int) -> Image:
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
            plain = picture if picture.mode in ("1", "L", "RGB", "RGBA", "P") else picture.convert("RGB")
            plain.save(out, "PNG")
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise ConfigError(f"{path}: the image cannot be read: {error}") from None
    return out.getvalue()
