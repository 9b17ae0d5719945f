"""Campaigns that hand out scarce goods by what people would give for them."""
