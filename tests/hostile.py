"""Text that a terminal, rich, a spreadsheet or LaTeX would obey, and what may be on a screen."""

import re
import unicodedata

SEQUENCE = "\x1b[38;5;199;7m"  # no colour of ours
CONTROLS = f"{SEQUENCE}\x1b]0;title\x07\x00\x9b2J\x7f\r\x08\x85\u2028\u202egpj.\u2066\u2069\u200b\ufeff\U000e0041"
MARKUP = "[bold]b[/bold][/][link=http://x.y]l[/link][red on blue]:smile:"
HOSTILE = f"{CONTROLS}{MARKUP}"
SCRIPT = "<script>alert(1)</script>"
ATTACKS = (  # on a page
    SCRIPT,
    "</script><script>alert(2)</script>",
    "</style><img src=https://example.org/x.png onerror=alert(3)>",
    "\"><svg onload='alert(4)'></svg>",
    "' autofocus onfocus=alert(5) x='",
    "]]><!-- </title></textarea></template><iframe src='javascript:alert(6)'></iframe>",
    "{{ 7 * 7 }}{% for x in y %}{# comment #}",
    "<base href='https://example.org/'><meta http-equiv=refresh content='0;url=https://example.org'>",
    "javascript:alert(7)",
)
FORMULAS = ("=HYPERLINK(1)", "+1+cmd", "-2+3", "@SUM(1)", "＝1+1")  # in a spreadsheet
NAMES = (SCRIPT, "a\"onload='x", "\u202eevil", "../../etc", "x" * 5000, FORMULAS[0], "con")  # of models and files
DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
OF_A_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def is_dangerous(character: str) -> bool:
    """Tells by Unicode's tables whether a character has no place on a screen."""
    if character in "\n\t":
        return False
    of_kind = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
    return of_kind or unicodedata.bidirectional(character) in DIRECTIONS


def check(*texts: str) -> None:
    """Asserts that nothing in texts is obeyed by a terminal, and that rich has taken none for its own markup."""
    for text in texts:
        found = sorted({c for c in text if is_dangerous(c)})
        assert not found, f"{found!r} in {text!r}"
        assert "\N{SMILING FACE WITH OPEN MOUTH AND SMILING EYES}" not in text and "😄" not in text
