"""Old names of `confide.channels` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any

import numpy as np


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.channels`, and what the new ones give."""
    from confide import channels as c
    from confide.channels.channel import JointTypeChannel, joint_types

    table, laws = [[0.6, 0.4], [0.4, 0.6]], [[0.7, 0.3], [0.3, 0.7]]
    pair = [0.45, 0.05, 0.05, 0.45]
    full = c.FullPrior(pair, 2, 2)
    types = joint_types(2, 2)
    alike = JointTypeChannel(types, [1.0 / np.sum(types.inputs == each) for each in types.inputs])
    answered = c.how_private(table)
    parts = {name: value for name, value in vars(answered).items() if name in type(answered).__dataclass_fields__}
    uses = dict[tuple[str, str], tuple[Any, Any]]()
    for it in (full, c.IndependentRows(laws), c.Exchangeable.mixture([0.5, 0.5], laws, 2), c.Channel(table),
               c.RowProduct([table]), c.ExponentialForm(np.ones(4), 1.0, 2, 2), alike,
               c.RandomizedResponse(epsilon=1.0, letters=2, records=2), c.TopK(prior=laws, epsilon=1.0),
               c.WaterFilling(prior=laws, identifiability=3.0), c.KernelMechanism(prior=full, epsilon=3.0), answered):
        uses[type(it).__name__, "rows"] = (lambda it=it: it.rows, it.records)

    def given(place: str, call: Any) -> None:
        uses[place, "rows="] = (lambda: repr(call(rows=2)), repr(call(records=2)))

    given("FullPrior", lambda **n: c.FullPrior(pair, 2, **n))
    given("Exchangeable", lambda **n: c.Exchangeable(np.log([0.25] * 3), 2, **n))
    given("Exchangeable.mixture", lambda **n: c.Exchangeable.mixture([0.5, 0.5], laws, **n))
    given("Exchangeable.polya", lambda **n: c.Exchangeable.polya([1.0, 2.0], **n))
    given("Channel", lambda **n: c.Channel(np.full((4, 4), 0.25), 2, **n))
    given("ExponentialForm", lambda **n: c.ExponentialForm(np.ones(4), 1.0, 2, **n))
    given("RandomizedResponse.telling_the_truth",
          lambda **n: c.RandomizedResponse.telling_the_truth(0.75, letters=2, **n).distortion)
    given("RandomizedResponse", lambda **n: c.RandomizedResponse(epsilon=1.0, letters=2, **n).distortion)
    given("privacy_distortion", lambda **n: c.privacy_distortion("dp", pair, 0.4, 2, **n).to_dict())
    given("least_distortion", lambda **n: c.least_distortion("dp", pair, 0.6, 2, **n).to_dict())
    given("ChannelAnswer", lambda **n: c.ChannelAnswer(**{key: parts[key] for key in parts if key != "records"},
                                                       **n).to_dict()["records"])
    uses["FullPrior", "cells"] = (lambda: repr(c.FullPrior(cells=pair, letters=2, records=2)), repr(full))
    uses["Channel", "table"] = (lambda: repr(c.Channel(table=table)), repr(c.Channel(table)))
    return {
        **uses,
        **{(place, "rows"): uses[place, "rows="] for place in (
            "Exchangeable.mixture", "Exchangeable.polya", "RandomizedResponse.telling_the_truth", "privacy_distortion",
            "least_distortion")},
        ("Prior", "rows"): uses["FullPrior", "rows"],
        ("channel.FiniteChannel", "rows"): uses["Channel", "rows"],
        ("mechanisms.base.FittedMechanism", "rows"): uses["TopK", "rows"],
    }
