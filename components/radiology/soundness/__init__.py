"""Whether a patient record with its eleven question pairs is sound: the checks that every shipped record passes, and
that whatever a model writes has to pass too. Each check yields a line per flaw: what was found, what would be right."""
