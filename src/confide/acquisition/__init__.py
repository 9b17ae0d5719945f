"""Buying a mean: weights, noise and payments for people who fear the platform and the public differently."""

from __future__ import annotations

from confide._lazy import doors

__all__: list[str] = []

__getattr__, __dir__ = doors(__name__, {})
