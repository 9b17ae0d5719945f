"""The lower bound on prices, and constant prices where goods may stay unsold."""

from __future__ import annotations

import numpy as np

from confide.allocation.instances import PriceGadgets
from confide.evidence.wu_2017.private_matchings.lower_bounds import price_floor


def test_constant_prices_satisfy_everybody_where_goods_may_stay_unsold() -> None:
    """What is wrong with the printed theorem: all prices 1 are an equilibrium with beta = 1, and tell nothing."""
    market = PriceGadgets.drawn(10, seed=1)
    values = market.values.toarray()
    assert (values - 1.0 <= 0.0).all()  # nothing is as good as anything at these prices
    assert market.recovered(np.ones(market.goods)) == 0.5
    assert not price_floor(0.1).vacuous
    assert "unsold" in price_floor(0.1).source.erratum
