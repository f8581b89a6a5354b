"""Protocol first: ``python -m runner.protocol new|freeze|check|report STUDY``: it is decided before anybody looks."""
