"""The first file of a multipart form, taken out of the stream as it arrives."""

from __future__ import annotations

from collections.abc import Callable

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from app.api.refusals import Refusal


class FirstFile:
    r"""Takes a multipart body apart; fields and further files are dropped.

    Attributes
    ----------
    name, media_type : str or None
        Of the file, once its headers have arrived.
    is_complete : bool
        Whether the body had a file and ended as it should.

    Examples
    --------
    >>> form = FirstFile('multipart/form-data; boundary=x')
    >>> form.feed(b'--x\r\nContent-Disposition: form-data; name="file"; filename="G1.txt"\r\n\r\n800 ')
    b'800 '
    >>> form.feed(b'19176\r\n--x--\r\n'), form.name, form.is_complete
    (b'19176', 'G1.txt', True)
    """

    def __init__(self, content_type: str) -> None:
        self.name: str | None = None
        self.media_type: str | None = None
        self._has_ended = False
        self._in_file = False
        self._header = b""
        self._value = b""
        self._headers: dict[bytes, bytes] = {}
        self._content = bytearray()
        boundary = parse_options_header(content_type)[1].get(b"boundary")
        if not boundary:
            raise Refusal("malformed-body", "the multipart body has no boundary")
        callbacks: dict[str, Callable[..., None]] = {
            "on_part_begin": self._headers.clear,
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers_finished,
            "on_part_data": self._on_part_data,
            "on_part_end": self._on_part_end,
            "on_end": self._on_end,
        }
        try:
            self._parser = MultipartParser(boundary, callbacks)  # type: ignore[arg-type]
        except FormParserError:
            raise Refusal("malformed-body", "the multipart boundary is not valid") from None

    @property
    def is_complete(self) -> bool:
        return self._has_ended and self.name is not None

    def feed(self, piece: bytes) -> bytes:
        """Return what `piece` has of the file."""
        try:
            self._parser.write(piece)
        except FormParserError:
            raise Refusal("malformed-body", "the multipart body is malformed") from None
        content = bytes(self._content)
        self._content.clear()
        return content

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def _on_headers_finished(self) -> None:
        options = parse_options_header(self._headers.get(b"content-disposition", b""))[1]
        self._in_file = self.name is None and b"filename" in options
        if self._in_file:
            self.name = options[b"filename"].decode("utf-8", "replace")
            self.media_type = self._headers.get(b"content-type", b"").decode("latin-1") or None

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._content += data[start:end]

    def _on_part_end(self) -> None:
        self._in_file = False

    def _on_end(self) -> None:
        self._has_ended = True
