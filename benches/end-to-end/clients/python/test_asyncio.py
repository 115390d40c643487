"""redis-py, the asyncio client."""

import asyncio
import unittest

import redis.asyncio

from server import DEADLINE, options


class Asyncio:
    """Runs once for each protocol, below."""

    protocol = None

    def client(self, **more):
        client = redis.asyncio.Redis(**options(self.protocol, **more))
        self.addAsyncCleanup(client.aclose)
        return client

    def pubsub(self, **more):
        pubsub = self.client(**more).pubsub()
        self.addAsyncCleanup(pubsub.aclose)
        return pubsub

    async def next(self, pubsub, kind):
        message = await pubsub.get_message(timeout=DEADLINE)
        self.assertIsNotNone(message, f"no {kind}")
        self.assertEqual(message["type"], kind)
        return message

    async def test_subscribe_and_unsubscribe(self):
        publisher, pubsub = self.client(), self.pubsub()
        await pubsub.subscribe("aio-a", "aio-b")
        await pubsub.psubscribe("aio-n*")
        for kind in ["subscribe", "subscribe", "psubscribe"]:
            await self.next(pubsub, kind)
        self.assertEqual(await publisher.publish("aio-a", "1"), 1)
        self.assertEqual(await publisher.publish("aio-news", "2"), 1)
        self.assertEqual((await self.next(pubsub, "message"))["data"], "1")
        self.assertEqual((await self.next(pubsub, "pmessage"))["pattern"], "aio-n*")
        await pubsub.unsubscribe("aio-a")
        await pubsub.punsubscribe("aio-n*")
        await self.next(pubsub, "unsubscribe")
        await self.next(pubsub, "punsubscribe")
        self.assertEqual(await publisher.publish("aio-a", "3"), 0)
        self.assertEqual(await publisher.publish("aio-b", "4"), 1)
        self.assertEqual((await self.next(pubsub, "message"))["data"], "4")

    async def test_a_listening_task(self):
        publisher, pubsub = self.client(), self.pubsub()
        await pubsub.subscribe("aio-task")
        await self.next(pubsub, "subscribe")

        async def listen():
            numbers = []
            async for message in pubsub.listen():
                numbers.append(int(message["data"]))
                if len(numbers) == 500:
                    return numbers

        task = asyncio.create_task(listen())
        for number in range(500):
            self.assertEqual(await publisher.publish("aio-task", number), 1)
        self.assertEqual(await asyncio.wait_for(task, DEADLINE), list(range(500)))

    async def test_pipelines(self):
        client, pubsub = self.client(), self.pubsub()
        await pubsub.subscribe("aio-pipe")
        await self.next(pubsub, "subscribe")
        for transaction in [False, True]:
            async with client.pipeline(transaction=transaction) as pipeline:
                pipeline.set("aio-k", 41).incr("aio-k").publish("aio-pipe", "x").get("aio-k")
                self.assertEqual(await pipeline.execute(), [True, 42, 1, "42"])
            self.assertEqual((await self.next(pubsub, "message"))["data"], "x")

    async def test_many_clients_at_once(self):
        publisher = self.client()
        pubsubs = [self.pubsub() for _ in range(20)]
        for pubsub in pubsubs:
            await pubsub.subscribe("aio-many")
            await self.next(pubsub, "subscribe")
        counts = await asyncio.gather(*(publisher.publish("aio-many", n) for n in range(50)))
        self.assertEqual(counts, [20] * 50)
        for pubsub in pubsubs:
            heard = [int((await self.next(pubsub, "message"))["data"]) for _ in range(50)]
            self.assertEqual(sorted(heard), list(range(50)))

    async def test_reconnects(self):
        publisher, pubsub = self.client(), self.pubsub(client_name="aio-reconnects")
        await pubsub.subscribe("aio-again")
        await self.next(pubsub, "subscribe")
        for _ in range(3):
            mine = [c for c in await publisher.client_list() if c["name"] == "aio-reconnects"]
            for connection in mine:
                await publisher.client_kill_filter(_id=connection["id"])
            await self.next(pubsub, "subscribe")
            self.assertEqual(await publisher.publish("aio-again", "x"), 1)
            await self.next(pubsub, "message")


class AsyncioResp2(Asyncio, unittest.IsolatedAsyncioTestCase):
    """RESP2"""

    protocol = 2


class AsyncioResp3(Asyncio, unittest.IsolatedAsyncioTestCase):
    """RESP3"""

    protocol = 3
