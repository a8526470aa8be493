"""The paper's experiments from end to end, on one page: every claim beside what came out here."""
