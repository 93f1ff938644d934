"""Names and media types of files on their way into and out of HTTP headers.

Both come from callers. A name is kept as a label only, never as a path, and goes out in the two forms that RFC 6266 asks for; neither
can break out of its header.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote, unquote

from python_multipart.multipart import parse_options_header

DEFAULT_NAME = "upload"
DEFAULT_MEDIA_TYPE = "application/octet-stream"

_LONGEST_NAME = 200
_EXTENDED_NAME = re.compile(r";\s*filename\*\s*=\s*utf-8'[^';]*'([^;\s]+)", re.IGNORECASE)
_TOKEN = r"[A-Za-z0-9!#$&^_.+-]{1,100}"
_MEDIA_TYPE = re.compile(rf"{_TOKEN}/{_TOKEN}(?:\s*;\s*charset=[A-Za-z0-9-]{{1,40}})?", re.IGNORECASE)


def safe_name(name: str | None) -> str:
    r"""Return the last part of a path without control characters.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("C:\\graphs\\G1.txt"), safe_name("a\r\nSet-Cookie: b"), safe_name("..")
    ('passwd', 'G1.txt', 'aSet-Cookie: b', 'upload')
    """
    last = re.split(r"[/\\]", name or "")[-1]
    visible = "".join(char for char in last if unicodedata.category(char)[0] != "C").strip()
    return visible[:_LONGEST_NAME] if visible.strip(". ") else DEFAULT_NAME


def safe_media_type(media_type: str | None) -> str:
    r"""Return a media type that may stand in a header, or the one for bytes of unknown kind.

    Examples
    --------
    >>> safe_media_type("text/plain; charset=utf-8"), safe_media_type("text/html\r\nX: y")
    ('text/plain; charset=utf-8', 'application/octet-stream')
    """
    media_type = (media_type or "").strip()
    return media_type if _MEDIA_TYPE.fullmatch(media_type) else DEFAULT_MEDIA_TYPE


def name_in_disposition(disposition: str) -> str | None:
    """Return the file name of a Content-Disposition header.

    Examples
    --------
    >>> name_in_disposition('attachment; filename="G 1.txt"'), name_in_disposition("attachment; filename*=UTF-8''na%C3%AFve.txt")
    ('G 1.txt', 'naïve.txt')
    """
    extended = _EXTENDED_NAME.search(disposition)
    if extended:
        return unquote(extended[1])
    plain = parse_options_header(disposition)[1].get(b"filename")
    return None if plain is None else plain.decode("latin-1")


def attachment(name: str) -> str:
    r"""Return the Content-Disposition that makes a browser save a file under `name`, and never show it.

    Examples
    --------
    >>> print(attachment('naïve".txt'))
    attachment; filename="na_ve_.txt"; filename*=UTF-8''na%C3%AFve%22.txt
    """
    plain = "".join(char if char.isascii() and char.isprintable() and char not in '"\\%' else "_" for char in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
