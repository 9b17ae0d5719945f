"""Targeted search of a private network: who is found is published, and nobody else's contacts show."""

from __future__ import annotations
