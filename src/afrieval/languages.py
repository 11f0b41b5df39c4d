"""The language table: what the suite calls a language, and what it is."""

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


ENGLISH = "eng"

# ISO 639-3 codes. Families and regions after Glottolog 5 and the United Nations' regions of Africa.
LANGUAGES: dict[str, Language] = {
    "amh": Language("Amharic", "Ethi", "Afro-Asiatic", "East"),
    "eng": Language("English", "Latn", "Indo-European", "elsewhere"),
    "ewe": Language("Ewe", "Latn", "Niger-Congo", "West"),
    "fra": Language("French", "Latn", "Indo-European", "elsewhere"),
    "hau": Language("Hausa", "Latn", "Afro-Asiatic", "West"),
    "ibo": Language("Igbo", "Latn", "Niger-Congo", "West"),
    "kin": Language("Kinyarwanda", "Latn", "Niger-Congo", "East"),
    "lin": Language("Lingala", "Latn", "Niger-Congo", "Central"),
    "lug": Language("Luganda", "Latn", "Niger-Congo", "East"),
    "orm": Language("Oromo", "Latn", "Afro-Asiatic", "East"),
    "sna": Language("Shona", "Latn", "Niger-Congo", "Southern"),
    "sot": Language("Sesotho", "Latn", "Niger-Congo", "Southern"),
    "swa": Language("Swahili", "Latn", "Niger-Congo", "East"),
    "twi": Language("Twi", "Latn", "Niger-Congo", "West"),
    "wol": Language("Wolof", "Latn", "Niger-Congo", "West"),
    "xho": Language("Xhosa", "Latn", "Niger-Congo", "Southern"),
    "yor": Language("Yoruba", "Latn", "Niger-Congo", "West"),
    "zul": Language("Zulu", "Latn", "Niger-Congo", "Southern"),
}
