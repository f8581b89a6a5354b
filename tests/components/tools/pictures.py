"""Small images as bytes, made on the spot."""

import io
from base64 import b64encode

import numpy as np
from PIL import Image as Pictures

from components.core.messages import Image


def picture(kind="PNG", colour=(0, 0, 0), mode="RGB", size=(40, 20)):
    out = io.BytesIO()
    Pictures.new(mode, size, colour).save(out, kind)
    return out.getvalue()


def deep_picture():
    """16 bits per pixel, as radiographs have."""
    values = np.linspace(0, 60000, 200).reshape(10, 20).astype(np.uint16)
    out = io.BytesIO()
    Pictures.fromarray(values).save(out, "PNG")
    return out.getvalue()


def shown(raw, kind="image/png"):
    return Image(f"data:{kind};base64,{b64encode(raw).decode()}")
