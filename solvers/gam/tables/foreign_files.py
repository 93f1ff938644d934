"""Files that are no table of text, told by how they begin, so that their sender learns what it was that they sent."""

from __future__ import annotations

import codecs

_BEGINNINGS = (
    (b"PAR1", "a Parquet file; its format is `parquet`"),
    (b"\x1f\x8b", "compressed by gzip; decompress it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard; decompress it first"),
    (b"BZh", "compressed by bzip2; decompress it first"),
    (b"\xfd7zXZ\0", "compressed by xz; decompress it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it first"),
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook; unpack it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook; save the sheet as CSV"),
    (b"ARROW1", "an Arrow or Feather file; save it as Parquet or CSV"),
    (b"SQLite format 3\0", "a SQLite database; export the table as CSV"),
    (b"\x89HDF\r\n", "an HDF5 file; save the table as Parquet or CSV"),
    (b"%PDF-", "a PDF document"),
    (codecs.BOM_UTF32_LE, "text in UTF-32; save it as UTF-8"),
    (codecs.BOM_UTF32_BE, "text in UTF-32; save it as UTF-8"),
)


def foreign_kind(head: bytes) -> str | None:
    r"""Return what a file is that begins so, and what to do about it; None if it may be text.

    Examples
    --------
    >>> foreign_kind(b"\x1f\x8b\x08\x00"), foreign_kind(b"age,plan\n")
    ('compressed by gzip; decompress it first', None)
    """
    return next((kind for beginning, kind in _BEGINNINGS if head.startswith(beginning)), None)
