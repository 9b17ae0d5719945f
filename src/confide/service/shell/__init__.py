"""Everything around the service's work: settings, identification of callers, error reports, limits, headers, logs,
metrics.
"""
