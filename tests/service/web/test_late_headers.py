"""Half a header is closed when its time is over; an answer that takes long is not."""

from __future__ import annotations

import asyncio

import uvicorn
from starlette.types import Receive, Scope, Send

from service.web.connections import limited


async def slow(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    await asyncio.sleep(0.6)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def asked(port: int, sent: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    try:
        return await asyncio.wait_for(reader.read(), 30)
    finally:
        writer.close()


def test_a_header_has_its_time_and_an_answer_has_any() -> None:
    whole = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    async def play() -> list[bytes]:
        config = uvicorn.Config(slow, port=0, lifespan="off", log_level="error", http=limited(100, 0.2, 5.0))
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        answers = await asyncio.gather(asked(port, b""), asked(port, whole[:20]), asked(port, whole))
        server.should_exit = True
        await serving
        return list(answers)

    nothing, half, whole_answer = asyncio.run(play())
    assert nothing.startswith(b"HTTP/1.1 408") and half.startswith(b"HTTP/1.1 408")
    assert whole_answer.startswith(b"HTTP/1.1 200") and whole_answer.endswith(b"ok")
