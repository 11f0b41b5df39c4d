"""Languages under the codes and names of all standards."""

from afrieval.languages import ALSO, LANGUAGES, SHORT, is_african, language_of, names

CODES: list[tuple[str, str | None]] = [
    *(("yor", "yor"), ("yo", "yor"), ("YO", "yor"), ("yor_Latn", "yor"), ("yo-NG", "yor"), ("Yorùbá", "yor")),
    *(("en", "eng"), ("eng", "eng"), ("English", "eng"), ("eng_Latn", "eng"), ("en_GB", "eng"), ("en-us", "eng")),
    *(("fre", "fra"), ("fr", "fra"), ("Français", "fra"), ("pt-BR", "por"), ("pt-br", "por")),
    *(("swh", "swa"), ("swh_Latn", "swa"), ("Kiswahili", "swa"), ("sw-KE", "swa"), ("swa_Latn", "swa")),
    *(("gaz", "orm"), ("gaz_Latn", "orm"), ("Afaan Oromoo", "orm"), ("om", "orm")),
    *(("twi_Latn_akua1239", "twi"), ("twi_asante", "twi"), ("Akuapem Twi", "twi"), ("ak", "aka")),
    *(("ful", "fuv"), ("ff", "fuv"), ("fuv_Latn", "fuv"), ("ara", "arb"), ("ar", "arb"), ("arb_Arab", "arb")),
    *(("knc_Arab", "knc_Arab"), ("knc_Latn", "knc"), ("taq-tfng", "taq_Tfng"), ("knc_arab", "knc_Arab")),
    *(("Nigerian Pidgin", "pcm"), ("nigerian_pidgin", "pcm"), ("N'Ko", "nqo"), (" isiZulu ", "zul")),
    *(("en-AM", "eng"), ("am-ET", "amh"), ("zul-ZA", "zul"), ("es-419", None)),
    *(("en-am", None), ("en-yo", None), ("eng-yor", None), ("EN-AM", None), ("yor_Arab", None), ("orm_Ethi", None)),
    *(("", None), ("-", None), ("de", None), ("zho", None), ("xx", None), ("avg", None), ("eng ms", None)),
    *((wrong, None) for wrong in ("../yor", "!!yor!!", "-yor", "yor_", "(yor)", "yor;", "'yor'", "yor/hau", "*")),
    *(("N’Ko", "nqo"), ("Tamasheq (Tifinagh script)", "taq_Tfng")),
    *(("yor_score", None), ("-yor-latn", None), ("y", None), ("İ", None), ("yor" * 9999, None)),
]


def test_codes_and_names() -> None:
    assert [(text, language_of(text)) for text, _ in CODES] == CODES


def test_every_language_has_its_own_codes_and_no_name_twice() -> None:
    for code, language in LANGUAGES.items():
        assert language_of(code) == language_of(language.name) == code
        assert language_of(f"{code.split('_')[0]}_{language.script}") == code
    assert all(language_of(short) == code for code, short in SHORT.items())
    other = [name for of in ALSO.values() for name in of.split(", ")]
    known = {*LANGUAGES, *SHORT.values(), *(language.name.lower() for language in LANGUAGES.values())}
    assert len(set(other)) == len(other) and not set(other) & known and set(ALSO) <= set(LANGUAGES)
    assert all(names()[name] == code for code, of in ALSO.items() for name in of.split(", "))


def test_only_languages_of_the_suite_are_known_to_be_african() -> None:
    assert is_african("yor") and is_african("sw") and is_african("gaz_Latn")
    assert not any(map(is_african, ("en", "eng", "fr", "por", "arb", "ar", "de", "xyz")))
