"""Words: the only place where English is built; one module a kind of answer."""
