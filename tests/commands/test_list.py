"""list tells what there is."""

from tests.conftest import Cli


def test_list(cli: Cli) -> None:
    out = cli("list").out
    assert "afrimmlu (version 1)" in out and "masakhane/afrixnli" in out
    assert "answer forms  text, letter" in out and "yor 1, 2, 3; reviewed by nobody yet" in out


def test_list_takes_no_options(cli: Cli) -> None:
    assert cli("list", "--all").code == 2
