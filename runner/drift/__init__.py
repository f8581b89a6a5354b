"""Drift: ``python -m runner.drift init RUN ...`` and ``check CANARY``: is it still the same model as last month?"""
