"""Campaigns that hand out scarce goods according to the values that participants report."""
