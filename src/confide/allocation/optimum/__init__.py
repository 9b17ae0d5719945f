"""The best allocation there is, with prices that prove it: what private mechanisms are measured against."""
