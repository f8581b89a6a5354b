"""The sections of a report: a file each, which turns runs into tables and plots."""
