"""Addresses of machines: which of them nobody else can reach."""

from __future__ import annotations

from ipaddress import ip_address


def is_address(host: str) -> bool:
    """Whether it is a number, which no name server can turn into another machine's."""
    try:
        return bool(ip_address(host))
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    return host == "localhost" or (is_address(host) and ip_address(host).is_loopback)
