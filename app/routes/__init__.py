"""Routers: parse, call one function, return."""
