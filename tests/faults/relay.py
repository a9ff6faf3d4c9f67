"""Passes TCP connections on: `python relay.py LISTEN_ADDRESS:PORT TARGET_ADDRESS:PORT`.

A server on the loopback interface of one machine becomes reachable from another.
"""

import asyncio
import sys


async def pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    except ConnectionError:
        pass
    finally:
        target.close()


async def main(listen: str, target: str) -> None:
    (host, port), (to_host, to_port) = (each.rsplit(":", 1) for each in (listen, target))

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            to_reader, to_writer = await asyncio.open_connection(to_host, int(to_port))
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, to_writer), pump(to_reader, writer))

    server = await asyncio.start_server(connected, host, int(port))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
