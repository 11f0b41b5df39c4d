"""What files are marked with: the time, and digests of texts."""

import hashlib
from datetime import UTC, datetime

WHOLE = 64  # digits of a SHA-256


def now() -> str:
    """Returns the date and time in UTC, to the second, as ISO 8601 writes them."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest(text: str, length: int = 16) -> str:
    """Returns the first hexadecimal digits of the SHA-256 of a text; halves of characters are bytes like others."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:length]
