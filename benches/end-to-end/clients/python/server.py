"""Where the server under test listens, and what every test here needs."""

import os

PORT = int(os.environ["GOBLIN_PORT"])
# The longest that anything may take before it counts as hanging, in seconds.
DEADLINE = 20


def options(protocol, **more):
    """The arguments of a redis-py client that never waits beyond the deadline."""
    return {
        "host": "127.0.0.1",
        "port": PORT,
        "protocol": protocol,
        "socket_timeout": DEADLINE,
        "decode_responses": True,
        **more,
    }
