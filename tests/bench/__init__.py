"""What DESIGN.md says of speed, measured: `python -m tests.bench [clicks] [snapshots] [phone] [step]`. Nothing here asserts a time."""
