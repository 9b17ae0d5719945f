"""The parts of the service around its work: settings, identification of callers, error reports, limits, headers, logs
and metrics.
"""
