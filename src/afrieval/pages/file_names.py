"""Names of files for any text: safe on every system, unique, and the same each time."""

import hashlib
import re

LONGEST = 60
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)  # by Windows


def file_name(text: str) -> str:
    """Returns a name without a suffix; texts that differ, even in capital letters only, have different names.

    Short texts of small letters, digits and underscores are their own names. All others end in a part of their hash.
    """
    if re.fullmatch(rf"[a-z0-9_]{{1,{LONGEST}}}", text) and not RESERVED.fullmatch(text):
        return text
    words = re.sub(r"[^a-z0-9.]+", "-", text.lower().replace("..", "."))[:LONGEST].strip("-.")
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{words}-{digest}" if words else digest
