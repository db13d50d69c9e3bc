"""Lessons: prose whose numbers are expressions, computed by the machines when a page is made."""
