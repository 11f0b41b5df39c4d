"""The language table: the suite's codes, names, scripts, families and regions, and the codes of other standards."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple


class Language(NamedTuple):
    """A language of the suite; `script` is its ISO 15924 code."""

    name: str
    script: str
    family: str
    region: str

    @property
    def african(self) -> bool:
        """Whether it counts in a mean over African languages."""
        return self.region != "elsewhere"

    @property
    def place(self) -> str:
        """What its region is called in a text."""
        return f"{self.region} Africa".replace("elsewhere Africa", "elsewhere than in Africa")

    @property
    def script_name(self) -> str:
        """What its script is called."""
        return SCRIPTS.get(self.script, self.script)


ENGLISH = "eng"
SCRIPTS = {"Arab": "Arabic", "Ethi": "Ethiopic", "Latn": "Latin", "Nkoo": "N'Ko", "Tfng": "Tifinagh"}
# ISO 639-1, which web pages must have for languages that have such a code.
SHORT = {
    "afr": "af", "aka": "ak", "amh": "am", "bam": "bm", "eng": "en", "ewe": "ee", "fra": "fr", "hau": "ha", "ibo": "ig",
    "kik": "ki", "kin": "rw", "kon": "kg", "lin": "ln", "lug": "lg", "mlg": "mg", "nde": "nd", "nya": "ny", "orm": "om",
    "por": "pt", "run": "rn", "sag": "sg", "sna": "sn", "som": "so", "sot": "st", "ssw": "ss", "swa": "sw", "tir": "ti",
    "tsn": "tn", "tso": "ts", "twi": "tw", "ven": "ve", "wol": "wo", "xho": "xh", "yor": "yo", "zul": "zu",
}  # fmt: skip

# ISO 639-3 codes, with the script's for a language's second script. Families and regions after Glottolog 5 and the
# United Nations' regions of Africa. Standard Arabic is `elsewhere`, since most of those who write it are.
LANGUAGES: dict[str, Language] = {
    "ach": Language("Acholi", "Latn", "Nilotic", "East"),
    "aeb": Language("Tunisian Arabic", "Arab", "Afro-Asiatic", "North"),
    "afr": Language("Afrikaans", "Latn", "Indo-European", "Southern"),
    "aka": Language("Akan", "Latn", "Niger-Congo", "West"),
    "amh": Language("Amharic", "Ethi", "Afro-Asiatic", "East"),
    "arb": Language("Standard Arabic", "Arab", "Afro-Asiatic", "elsewhere"),
    "arq": Language("Algerian Arabic", "Arab", "Afro-Asiatic", "North"),
    "ary": Language("Moroccan Arabic", "Arab", "Afro-Asiatic", "North"),
    "arz": Language("Egyptian Arabic", "Arab", "Afro-Asiatic", "North"),
    "bam": Language("Bambara", "Latn", "Mande", "West"),
    "bbj": Language("Ghomala", "Latn", "Niger-Congo", "Central"),
    "bem": Language("Bemba", "Latn", "Niger-Congo", "East"),
    "cjk": Language("Chokwe", "Latn", "Niger-Congo", "Central"),
    "dik": Language("Southwestern Dinka", "Latn", "Nilotic", "East"),
    "dje": Language("Zarma", "Latn", "Songhay", "West"),
    "dyu": Language("Dyula", "Latn", "Mande", "West"),
    "ekp": Language("Ekpeye", "Latn", "Niger-Congo", "West"),
    "eng": Language("English", "Latn", "Indo-European", "elsewhere"),
    "ewe": Language("Ewe", "Latn", "Niger-Congo", "West"),
    "fon": Language("Fon", "Latn", "Niger-Congo", "West"),
    "fra": Language("French", "Latn", "Indo-European", "elsewhere"),
    "fuv": Language("Nigerian Fulfulde", "Latn", "Niger-Congo", "West"),
    "gez": Language("Ge'ez", "Ethi", "Afro-Asiatic", "East"),
    "hau": Language("Hausa", "Latn", "Afro-Asiatic", "West"),
    "ibo": Language("Igbo", "Latn", "Niger-Congo", "West"),
    "idu": Language("Idoma", "Latn", "Niger-Congo", "West"),
    "iso": Language("Isoko", "Latn", "Niger-Congo", "West"),
    "kab": Language("Kabyle", "Latn", "Afro-Asiatic", "North"),
    "kam": Language("Kamba", "Latn", "Niger-Congo", "East"),
    "kbp": Language("Kabiye", "Latn", "Niger-Congo", "West"),
    "kea": Language("Kabuverdianu", "Latn", "Indo-European", "West"),
    "kik": Language("Kikuyu", "Latn", "Niger-Congo", "East"),
    "kin": Language("Kinyarwanda", "Latn", "Niger-Congo", "East"),
    "kmb": Language("Kimbundu", "Latn", "Niger-Congo", "Central"),
    "knc": Language("Central Kanuri", "Latn", "Saharan", "West"),
    "knc_Arab": Language("Central Kanuri (Arabic script)", "Arab", "Saharan", "West"),
    "kon": Language("Kikongo", "Latn", "Niger-Congo", "Central"),
    "lgg": Language("Lugbara", "Latn", "Central Sudanic", "East"),
    "lin": Language("Lingala", "Latn", "Niger-Congo", "Central"),
    "lua": Language("Luba-Kasai", "Latn", "Niger-Congo", "Central"),
    "lug": Language("Luganda", "Latn", "Niger-Congo", "East"),
    "luo": Language("Luo", "Latn", "Nilotic", "East"),
    "mey": Language("Hassaniya Arabic", "Arab", "Afro-Asiatic", "West"),
    "mlg": Language("Malagasy", "Latn", "Austronesian", "East"),
    "mos": Language("Mossi", "Latn", "Niger-Congo", "West"),
    "nde": Language("Northern Ndebele", "Latn", "Niger-Congo", "East"),
    "nqo": Language("N'Ko", "Nkoo", "Mande", "West"),
    "nso": Language("Northern Sotho", "Latn", "Niger-Congo", "Southern"),
    "nus": Language("Nuer", "Latn", "Nilotic", "East"),
    "nya": Language("Nyanja", "Latn", "Niger-Congo", "East"),
    "nyn": Language("Nyankole", "Latn", "Niger-Congo", "East"),
    "orm": Language("Oromo", "Latn", "Afro-Asiatic", "East"),
    "pcm": Language("Nigerian Pidgin", "Latn", "English creole", "West"),
    "plt": Language("Plateau Malagasy", "Latn", "Austronesian", "East"),
    "por": Language("Portuguese", "Latn", "Indo-European", "elsewhere"),
    "run": Language("Rundi", "Latn", "Niger-Congo", "East"),
    "sag": Language("Sango", "Latn", "Ngbandi creole", "Central"),
    "shi": Language("Tachelhit", "Arab", "Afro-Asiatic", "North"),
    "sna": Language("Shona", "Latn", "Niger-Congo", "East"),
    "som": Language("Somali", "Latn", "Afro-Asiatic", "East"),
    "sot": Language("Sesotho", "Latn", "Niger-Congo", "Southern"),
    "ssw": Language("Swati", "Latn", "Niger-Congo", "Southern"),
    "swa": Language("Swahili", "Latn", "Niger-Congo", "East"),
    "taq": Language("Tamasheq", "Latn", "Afro-Asiatic", "West"),
    "taq_Tfng": Language("Tamasheq (Tifinagh script)", "Tfng", "Afro-Asiatic", "West"),
    "teo": Language("Ateso", "Latn", "Nilotic", "East"),
    "tir": Language("Tigrinya", "Ethi", "Afro-Asiatic", "East"),
    "tsn": Language("Tswana", "Latn", "Niger-Congo", "Southern"),
    "tso": Language("Tsonga", "Latn", "Niger-Congo", "Southern"),
    "tum": Language("Tumbuka", "Latn", "Niger-Congo", "East"),
    "twi": Language("Twi", "Latn", "Niger-Congo", "West"),
    "tzm": Language("Central Atlas Tamazight", "Tfng", "Afro-Asiatic", "North"),
    "umb": Language("Umbundu", "Latn", "Niger-Congo", "Central"),
    "urh": Language("Urhobo", "Latn", "Niger-Congo", "West"),
    "ven": Language("Venda", "Latn", "Niger-Congo", "Southern"),
    "vmw": Language("Makhuwa", "Latn", "Niger-Congo", "East"),
    "wol": Language("Wolof", "Latn", "Niger-Congo", "West"),
    "xho": Language("Xhosa", "Latn", "Niger-Congo", "Southern"),
    "yor": Language("Yoruba", "Latn", "Niger-Congo", "West"),
    "zul": Language("Zulu", "Latn", "Niger-Congo", "Southern"),
}


# What else languages are called: ISO 639-2/B, macrolanguages and members of them that data sets mean by the suite's
# code, and other names.
ALSO = {
    "ach": "acoli", "aeb": "tunisian", "aka": "akan twi", "arb": "ar, ara, arabic, modern standard arabic, msa",
    "arq": "algerian, darja", "ary": "moroccan, darija", "arz": "egyptian", "bam": "bamanankan",
    "bem": "chibemba, icibemba", "dik": "din, dinka", "dje": "djerma, zabarma", "dyu": "dioula, jula", "fon": "fongbe",
    "fra": "fre, francais",
    "fuv": "ff, ful, fula, fulah, fulani, fulfulde", "gez": "geez", "kab": "taqbaylit", "kea": "cape verdean creole",
    "kik": "gikuyu", "kin": "ikinyarwanda", "knc": "kr, kau, kanuri", "kon": "kongo", "lgg": "lugbarati",
    "lua": "tshiluba", "lug": "ganda, oluganda", "luo": "dholuo", "mey": "hassaniya", "mos": "moore",
    "nde": "north ndebele", "nso": "pedi, sepedi", "nya": "chewa, chichewa, cinyanja", "nyn": "nyankore, runyankole",
    "orm": "gaz, afaan oromo, afaan oromoo, oromiffa, west central oromo", "pcm": "naija, pidgin, nigerian creole",
    "run": "kirundi", "shi": "tashelhit", "sna": "chishona", "sot": "southern sotho", "ssw": "siswati, swazi",
    "swa": "swh, kiswahili", "teo": "teso", "tsn": "setswana", "tso": "xitsonga",
    "twi": "akuapem twi, asante twi, twi akuapem, twi asante", "ven": "tshivenda", "vmw": "emakhuwa",
    "xho": "isixhosa", "zul": "isizulu",
}  # fmt: skip
_SCRIPT, _REGION, _VARIETY = "[A-Za-z]{4}", "[A-Za-z]{2}|[0-9]{3}", "[a-z]{4}[0-9]{4}"  # the last is Glottolog's
_TAG = re.compile(rf"([A-Za-z]{{2,3}})(?:[-_]({_SCRIPT}))?(?:[-_]({_REGION}))?(?:[-_](?:{_VARIETY}))?")


def language_of(text: str) -> str | None:
    """Returns the suite's code of a language; None if the suite does not have it.

    Args:
        text: a code of ISO 639-1, 639-2 or 639-3, with or without script, region and Glottolog's code of a variety, as
            in `yor_Latn`, `sw-KE` and `twi_Latn_akua1239`; or a name in English or the language's own, as in
            `Nigerian Pidgin`, `Yorùbá` and `isiZulu`. Case does not matter.
    """
    if code := names().get(_plain(text)):
        return code
    tag = _TAG.fullmatch(text.strip())
    code = names().get(tag[1].lower()) if tag else None
    if tag is None or code is None or (tag[3] and _is_pair(tag)):
        return None
    script = (tag[2] or LANGUAGES[code].script).title()
    return code if script == LANGUAGES[code].script else names().get(f"{code} {script.lower()}")


def codes_of(texts: Iterable[str]) -> list[str]:
    """Returns the suite's codes of languages; a text that means none of them stays as it is.

    Args:
        texts: as in `language_of`; one text may be several languages, as in `hau yor`.
    """
    parts = [part for text in texts for part in ([text] if language_of(text) else text.split() or [text])]
    return [language_of(part) or part for part in parts]


def named(code: str) -> str:
    """Returns a language's name and code, as in `Hausa (hau)`; the code alone if the suite does not have it."""
    return f"{LANGUAGES[code].name} ({code})" if code in LANGUAGES else code


def _is_pair(tag: re.Match[str]) -> bool:
    """Returns whether a tag is a pair of languages, as in `en-am`; in `en-AM`, it is a region."""
    return names().get(tag[3].lower()) is not None and not (tag[1].islower() and tag[3].isupper())


@cache
def names() -> dict[str, str]:
    """Returns all codes and names of languages, as `_plain` has them, with the suite's code of each."""
    others = {name: code for code, of in ALSO.items() for name in of.split(", ")}
    codes_and_names = {
        _plain(name): code for code, of in LANGUAGES.items() for name in (code, SHORT.get(code, code), of.name)
    }
    return others | codes_and_names


def _plain(text: str) -> str:
    """Returns a name in small letters without accents, with single blanks; signs around it make it no name."""
    letters = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    bare = re.sub(r" \((.*)\)$", r" \1", re.sub(r"(?<=\w)['’ʻʼ`](?=\w)", "", letters))
    return " ".join(re.sub(r"(?<=[^\W_])[_-](?=[^\W_])", " ", bare).casefold().split())


def is_african(language: str) -> bool:
    """Returns whether a language counts in a mean over African languages; one that the suite does not have does not."""
    code = language_of(language)
    return code is not None and LANGUAGES[code].african


def web_code(language: str) -> str:
    """Returns the code of a language in a web page, such as `yo` or `knc-Arab`."""
    return SHORT.get(language, language).replace("_", "-")
