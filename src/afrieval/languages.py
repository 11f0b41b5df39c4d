"""The language table: the suite's codes, names, scripts, families and regions."""

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
# Two-letter codes, which web pages must have for languages that have one.
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
    "dyu": Language("Dyula", "Latn", "Mande", "West"),
    "eng": Language("English", "Latn", "Indo-European", "elsewhere"),
    "ewe": Language("Ewe", "Latn", "Niger-Congo", "West"),
    "fon": Language("Fon", "Latn", "Niger-Congo", "West"),
    "fra": Language("French", "Latn", "Indo-European", "elsewhere"),
    "fuv": Language("Nigerian Fulfulde", "Latn", "Niger-Congo", "West"),
    "hau": Language("Hausa", "Latn", "Afro-Asiatic", "West"),
    "ibo": Language("Igbo", "Latn", "Niger-Congo", "West"),
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
    "ven": Language("Venda", "Latn", "Niger-Congo", "Southern"),
    "wol": Language("Wolof", "Latn", "Niger-Congo", "West"),
    "xho": Language("Xhosa", "Latn", "Niger-Congo", "Southern"),
    "yor": Language("Yoruba", "Latn", "Niger-Congo", "West"),
    "zul": Language("Zulu", "Latn", "Niger-Congo", "Southern"),
}


def web_code(language: str) -> str:
    """Returns the code of a language in a web page, such as `yo` or `knc-Arab`."""
    return SHORT.get(language, language).replace("_", "-")
