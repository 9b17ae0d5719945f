"""The version of the code, which packs name: whatever pip noted of an earlier checkout."""

__all__ = ["__version__"]

__version__ = "1.0.0rc1"
