"""What every answer goes through; knows no machine."""
