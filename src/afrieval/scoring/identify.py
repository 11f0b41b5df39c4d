"""Which language a text is in, by py3langid (van Noord; after langid.py, Lui & Baldwin 2012)."""

# The suite's codes to those of py3langid, as far as it knows the language.
CODES = {"afr": "af", "amh": "am", "ary": "ary", "arz": "arz", "eng": "en", "fra": "fr", "fuv": "fuv", "hau": "ha"}
CODES |= {"ibo": "ig", "kin": "rw", "lin": "ln", "lug": "lg", "nso": "nso", "orm": "om", "plt": "mg", "sna": "sn"}
CODES |= {"som": "so", "sot": "st", "swa": "sw", "xho": "xh", "yor": "yo", "zul": "zu"}


def identified(text: str) -> str:
    """Returns py3langid's code of the likeliest language."""
    import py3langid

    return str(py3langid.classify(text)[0])
