"""The API, `/api/v1`. Each module has the entry points for one subject, and `routes` has all of them."""
