"""Mechanisms broken on purpose: what the audit of a regression must flag."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypeVar

import numpy as np

from confide.regression.private_truthful_regression import PrivateTruthfulRegression
from confide.regression.records import RecordMap
from confide.regression.setting import Setting

__all__ = ["PaidByHerOwnGroup", "Unbounded", "Unclipped", "planted", "wider_ball"]

Broken = TypeVar("Broken", bound=PrivateTruthfulRegression)


def planted(kind: type[Broken], sound: PrivateTruthfulRegression) -> Broken:
    """A broken mechanism with the parameters of a sound one."""
    made: type[Broken] = kind if issubclass(kind, type(sound)) else type(kind.__name__, (kind, type(sound)), {})
    return made(setting=sound.setting, payment=sound.payment, release=sound.release, behaviour=sound.behaviour)


class _WiderBall(Setting):
    """Estimates are held by a ball ten times as wide as the noise is scaled for."""

    @property
    def ball(self) -> float:
        return 10 * super().ball

    @property
    def diameter(self) -> float:
        return self.narrow.diameter

    @property
    def narrow(self) -> Setting:
        """What is promised."""
        return Setting(**{each.name: getattr(self, each.name) for each in fields(Setting)})


def wider_ball(sound: PrivateTruthfulRegression) -> PrivateTruthfulRegression:
    """The mechanism itself, its solver and its noise, with a ball that hardly holds anything.

    Args:
        sound: corrected; the printed mechanism has no ball.
    """
    setting = _WiderBall(**{each.name: getattr(sound.setting, each.name) for each in fields(Setting)})
    return replace(sound, setting=setting)


class Unclipped(PrivateTruthfulRegression):
    """Its records may be sixteen times as large as its noise allows for."""

    @property
    def record_map(self) -> RecordMap:
        sound = self.setting.record_map
        return replace(sound, response_bound=16 * sound.response_bound, noise_bound=16 * sound.response_bound)


class PaidByHerOwnGroup(PrivateTruthfulRegression):
    """The estimate that predicts her contains her own answer."""

    def exact_payments(self, X: np.ndarray, y: np.ndarray, group: np.ndarray, peers: np.ndarray) -> np.ndarray:
        return super().exact_payments(X, y, ~group, peers)


class Unbounded(PrivateTruthfulRegression):
    """Predictions are not clipped, although the range of payments says so."""

    @property
    def prediction_bound(self) -> None:
        return None
