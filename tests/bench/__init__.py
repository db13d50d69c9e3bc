"""What DESIGN.md says of speed, measured: `python -m tests.bench`, or with the names of some parts. Nothing here asserts a time."""
