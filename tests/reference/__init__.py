"""The definition, slow and readable: logs, columns, growth, leaves and losses by plain loops and exact integers.

It imports numpy and the standard library only, never the package, so that it can judge the package.

- derive: value and derivative of every step
- columns: the scaled target columns and their integer grid
- codes: which values of a feature count as equal
- thresholds: the number put into the gap between two neighbours
- split: the best cut of a node, twice: by fractions, and by long doubles decided with fractions
- grow: best-first growth
- leaves: statistics of every node and losses at every leaf count
"""
