"""Laws that are enumerated: what is too large is refused before it is made, with what it would have taken."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from confide.channels import Exchangeable
from confide.channels.analyser import output_logs
from confide.contract import InvalidInput
from confide.privacy.selection import noisy_max_law
from confide.search.noise_kinds import call_law

MANY = Exchangeable.polya([1.0, 1.0], 20_000)


@pytest.mark.parametrize(("make", "field"), [
    (lambda: noisy_max_law(np.arange(50), 2e-3, 1), "scale"), (lambda: noisy_max_law(np.arange(2000), 2.0, 1), "scale"),
    (lambda: call_law(np.zeros(400), 2000.0, "discrete_laplace", 3), "noise_scale"),
    (lambda: output_logs(np.array([[0.7, 0.3], [0.3, 0.7]]), MANY), "records"),
])
def test_a_law_that_does_not_fit_is_refused_at_once(make: Callable[[], Any], field: str) -> None:
    tracemalloc.start()
    with pytest.raises(InvalidInput) as caught:
        make()
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()
    assert caught.value.field == field
