"""Algorithm 3 as printed: the same law as the corrected game, bit for bit what it was, and a claim that is false."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from confide.contract import InvalidInput, Privacy
from confide.evidence.wu_2017.query_release import PrintedDualQuery
from confide.privacy import ApproxDP
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator
from confide.release import DualQuery, Workload
from confide.release.audited_games import replacements, tiny_game, transcript_laws


def small() -> np.ndarray:
    generator = study_generator(3, "small")
    hidden = generator.random((500, 1)) < 0.4
    return np.where(hidden, generator.random((500, 8)) < 0.8, generator.random((500, 8)) < 0.25)


def test_weights_samples_and_records_are_as_they_were() -> None:
    it = PrintedDualQuery(records=200, eta=0.6, rounds=7, samples=25, workload=Workload.complete(6, width=2))
    observed = RecordingNoise(Noise.simulated(4))
    board: Any = it.run(study_generator(5, "paid").random((200, 6)) < np.linspace(0.1, 0.9, 6), observed).billboard
    digest = hashlib.sha256()
    for draw in observed.draws:
        digest.update(repr((draw.law, draw.stream, [float(point) for point in draw.center])).encode())
        digest.update(np.asarray(draw.value, dtype="<i8").tobytes())
    digest.update(np.packbits(board.records.unpack()).tobytes())
    assert digest.hexdigest()[:16] == "567fcf0c67108cef"


def test_both_players_mirrored_give_the_same_law() -> None:
    """Erratum 1: the print, mirrored as a whole, publishes the same records; its guarantees say what is false."""
    corrected, printed = tiny_game(), tiny_game(kind=PrintedDualQuery)
    data, _ = replacements(corrected, [(4, 4, 4, 6)])
    for law, mirrored in zip(*(transcript_laws(it, data).values() for it in (corrected, printed)), strict=True):
        assert law == pytest.approx(mirrored, abs=1e-14)
    given: dict[str, Any] = {"records": 500, "eta": 0.6, "rounds": 30, "samples": 60,
                             "workload": Workload.complete(8, width=2, positive=False)}
    errors = [kind(**given).run(small(), Noise.simulated(4)).diagnostics["mean_error"]
              for kind in (DualQuery, PrintedDualQuery)]
    assert max(errors) < 0.06


def test_the_claim_of_the_text_is_false() -> None:
    setting: dict[str, Any] = {"records": 494_021, "eta": 1.2, "rounds": 170, "samples": 1750, "delta": 1e-3,
                               "calculator": "theorem-3.4.2"}
    it = PrintedDualQuery(**setting)
    false, = it.guarantees().of(Privacy, claimable=False)
    assert (false.loss, "1.859" in false.note) == (ApproxDP(1.0, 1e-3), True)
    assert it.guarantees().privacy[-1].loss.epsilon == pytest.approx(1.859019, rel=1e-6)
    assert "1.859" in it.guarantees().privacy[-1].note
    assert not DualQuery(**setting).guarantees().of(Privacy, claimable=False)
    assert not PrintedDualQuery(**{**setting, "rounds": 100}).guarantees().of(Privacy, claimable=False)


def test_the_keyword_of_earlier_versions_says_where_the_print_is() -> None:
    with pytest.raises(InvalidInput, match=r"take confide\.evidence\.wu_2017\.query_release\.PrintedDualQuery"):
        DualQuery(records=10, eta=1.0, rounds=2, samples=1, literal=True)
