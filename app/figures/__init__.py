"""A snapshot as a file: SVG, PNG, card and QR code; a run as a moving picture and as a table."""
