"""Pages without pictures: what is nothing but rounding is no other number, and a word is no scale of a column."""

from __future__ import annotations

import pytest

from confide.campaign.verification.page import same_page


def _page(head: str, *cells: str) -> str:
    rows = "".join(f'<tr><td class="number">{cell}</td></tr>' for cell in cells)
    return (f'<body>\n<table><thead><tr><th class="number">{head}</th></tr></thead><tbody>{rows}</tbody></table>\n'
            "</body>\n</html>\n")


@pytest.mark.parametrize("head", ["inf", "nan", "-inf", "price"])
def test_a_heading_is_no_scale(head: str) -> None:
    assert same_page(_page(head, "0.25", "1.000e-17"), _page(head, "0.25", "-2.000e-17"))
    assert not same_page(_page(head, "0.25", "0.5"), _page(head, "0.26", "0.5"))
    assert not same_page(_page(head, "0.25", "1.000e-17"), _page(head, "0.25", "1.000e-07"))


@pytest.mark.parametrize("cell", ["inf", "nan", "-inf"])
def test_a_number_without_an_end_is_no_scale(cell: str) -> None:
    assert not same_page(_page("price", "0.25", cell), _page("price", "0.26", cell))
    assert not same_page(_page("price", "0.25", cell), _page("price", "0.25", "0.25"))
    assert not same_page(_page("price", "0.25", "0.5"), _page("price", "0.25", cell))
