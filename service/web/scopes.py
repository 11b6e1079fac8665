"""Which scope a route needs: it says so itself, or it follows from what its method does."""

from __future__ import annotations

from fastapi.routing import APIRoute

KEY = "x-scope"  # in the OpenAPI schema
BY_METHOD = {"GET": "read", "POST": "write", "PATCH": "write", "DELETE": "write", "PUT": "driver"}
OPEN = "none"
DRIVER = "driver"  # of drivers' own tokens, which nobody can make: files, states, and what the whole study does


def needs(scope: str) -> dict[str, str]:
    """`openapi_extra` of a route whose scope does not follow from its method; `none`: it asks for no token."""
    return {KEY: scope}


def scope_of(route: APIRoute) -> str:
    return str((route.openapi_extra or {}).get(KEY) or BY_METHOD[min(route.methods or {"GET"})])
