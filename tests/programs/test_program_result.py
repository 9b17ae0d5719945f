"""What a result page of the kind `program` says of bounds that say nothing."""

from __future__ import annotations

from dataclasses import replace

from confide import PublicOutcome
from golden.golden_files import campaign, pack


def test_bounds_of_a_run_that_say_nothing_have_no_figure() -> None:
    it = campaign("program_charging")
    outcome = PublicOutcome.load(pack("program_charging"))
    useless = replace(outcome, certificate=replace(outcome.certificate, excess=1e5 * outcome.certificate.excess,
                                                   gap=6.925e5, sharp_gap=7e5))
    reported = {name: [text for part in it.kind.result(it.plan, it_came_out) for text in part.paragraphs]
                for name, it_came_out in (("as it was", outcome), ("useless", useless))}
    assert any("are above supply by at most" in text for text in reported["as it was"])
    assert any("are worth at most" in text for text in reported["as it was"])
    says = "is larger than any possible error, so it says nothing."
    assert sum(text.endswith(says) for text in reported["useless"]) == 2
    assert not any("e+05" in text or "are worth at most" in text for text in reported["useless"])
    table = next(table for part in it.kind.result(it.plan, useless) for table in part.tables)
    assert "excess, at most" not in table.columns
