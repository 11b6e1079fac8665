"""A user's own code: loaded, described, trained. Runs on workers only, never in the service."""
