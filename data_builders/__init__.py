"""Builders of the data that ship with the project: ``python -m data_builders.NAME [--check]``.

They are tools of the repository and no part of the package. Their tables are here; what they make is below components/.
"""
