"""The journal: what programs ran, all that passed their doors, and what came of it, kept in one file."""
