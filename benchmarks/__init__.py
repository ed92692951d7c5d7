"""What codeact costs, measured through its public API."""
