"""Chapter 2 and appendix A of Wang 2016: identifiability, differential privacy and mutual information as notions of
privacy.
"""
