"""File formats: Arrow tables in and out, one file a format."""
