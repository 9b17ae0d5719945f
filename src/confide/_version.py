"""The version of the code, which is written into every evidence pack, even where pip has recorded the version of an
earlier checkout.
"""

__all__ = ["__version__"]

__version__ = "1.0.0rc1"
