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


ENGLISH = "eng"

# ISO 639-3 codes. Families and regions after Glottolog 5 and the United Nations' regions of Africa.
LANGUAGES: dict[str, Language] = {
    "afr": Language("Afrikaans", "Latn", "Indo-European", "Southern"),
    "amh": Language("Amharic", "Ethi", "Afro-Asiatic", "East"),
    "ary": Language("Moroccan Arabic", "Arab", "Afro-Asiatic", "North"),
    "arz": Language("Egyptian Arabic", "Arab", "Afro-Asiatic", "North"),
    "bam": Language("Bambara", "Latn", "Mande", "West"),
    "eng": Language("English", "Latn", "Indo-European", "elsewhere"),
    "ewe": Language("Ewe", "Latn", "Niger-Congo", "West"),
    "fra": Language("French", "Latn", "Indo-European", "elsewhere"),
    "fuv": Language("Nigerian Fulfulde", "Latn", "Niger-Congo", "West"),
    "hau": Language("Hausa", "Latn", "Afro-Asiatic", "West"),
    "ibo": Language("Igbo", "Latn", "Niger-Congo", "West"),
    "kea": Language("Kabuverdianu", "Latn", "Indo-European", "West"),
    "kin": Language("Kinyarwanda", "Latn", "Niger-Congo", "East"),
    "lin": Language("Lingala", "Latn", "Niger-Congo", "Central"),
    "lug": Language("Luganda", "Latn", "Niger-Congo", "East"),
    "luo": Language("Luo", "Latn", "Nilotic", "East"),
    "nso": Language("Northern Sotho", "Latn", "Niger-Congo", "Southern"),
    "nya": Language("Nyanja", "Latn", "Niger-Congo", "East"),
    "orm": Language("Oromo", "Latn", "Afro-Asiatic", "East"),
    "plt": Language("Plateau Malagasy", "Latn", "Austronesian", "East"),
    "sna": Language("Shona", "Latn", "Niger-Congo", "Southern"),
    "som": Language("Somali", "Latn", "Afro-Asiatic", "East"),
    "sot": Language("Sesotho", "Latn", "Niger-Congo", "Southern"),
    "ssw": Language("Swati", "Latn", "Niger-Congo", "Southern"),
    "swa": Language("Swahili", "Latn", "Niger-Congo", "East"),
    "tir": Language("Tigrinya", "Ethi", "Afro-Asiatic", "East"),
    "tsn": Language("Tswana", "Latn", "Niger-Congo", "Southern"),
    "tso": Language("Tsonga", "Latn", "Niger-Congo", "Southern"),
    "twi": Language("Twi", "Latn", "Niger-Congo", "West"),
    "wol": Language("Wolof", "Latn", "Niger-Congo", "West"),
    "xho": Language("Xhosa", "Latn", "Niger-Congo", "Southern"),
    "yor": Language("Yoruba", "Latn", "Niger-Congo", "West"),
    "zul": Language("Zulu", "Latn", "Niger-Congo", "Southern"),
}
