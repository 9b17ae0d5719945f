"""The shell around the service's work: settings, who asks, what goes wrong, limits, headers, logs, metrics."""
