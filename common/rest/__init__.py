"""What every JSON endpoint shares: parsing, rendering, field types and the error shape."""
