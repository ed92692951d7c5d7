"""A support desk whose agent writes programs: a year's tickets about money, answered inside a sandbox."""
