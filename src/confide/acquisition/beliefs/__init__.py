"""What is believed about sensitivities: priors, their ironed virtual costs, and made-up reports."""
