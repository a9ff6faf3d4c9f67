"""The developer portal: pages under `/portal/`."""
