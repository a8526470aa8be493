"""Words in and out: numbers, conditions, the grammar of expressions, HTML; knows the schema and nothing else."""
