"""redis-py, the synchronous client."""

import queue
import unittest

import redis

from server import DEADLINE, options


class Sync:
    """Runs once for each protocol, below."""

    protocol = None

    def client(self, **more):
        client = redis.Redis(**options(self.protocol, **more))
        self.addCleanup(client.close)
        return client

    def pubsub(self, **more):
        pubsub = self.client(**more).pubsub()
        self.addCleanup(pubsub.close)
        return pubsub

    def next(self, pubsub, kind):
        message = pubsub.get_message(timeout=DEADLINE)
        self.assertIsNotNone(message, f"no {kind}")
        self.assertEqual(message["type"], kind)
        return message

    def test_commands(self):
        client = self.client()
        self.assertTrue(client.ping())
        self.assertTrue(client.set("py", "1", ex=100))
        self.assertEqual(client.incr("py"), 2)
        client.delete("py-hash", "py-set")
        client.hset("py-hash", mapping={"a": "1", "b": "2"})
        self.assertEqual(client.hgetall("py-hash"), {"a": "1", "b": "2"})
        client.zadd("py-set", {"one": 1, "two": 2.5})
        self.assertEqual(client.zscore("py-set", "two"), 2.5)
        self.assertIn("redis_version", client.info())
        self.assertEqual(client.client_getname() or "", "")
        with self.assertRaises(redis.ResponseError):
            client.execute_command("NOSUCH")

    def test_subscribe_and_unsubscribe(self):
        publisher, pubsub = self.client(), self.pubsub()
        pubsub.subscribe("py-a", "py-b")
        pubsub.psubscribe("py-n*")
        pubsub.ssubscribe("py-s")
        for kind in ["subscribe", "subscribe", "psubscribe", "ssubscribe"]:
            self.next(pubsub, kind)
        self.assertEqual(publisher.publish("py-a", "1"), 1)
        self.assertEqual(publisher.publish("py-news", "2"), 1)
        self.assertEqual(publisher.spublish("py-s", "3"), 1)
        self.assertEqual(self.next(pubsub, "message")["data"], "1")
        matched = self.next(pubsub, "pmessage")
        self.assertEqual((matched["pattern"], matched["channel"], matched["data"]), ("py-n*", "py-news", "2"))
        self.assertEqual(self.next(pubsub, "smessage")["data"], "3")
        self.assertEqual(publisher.pubsub_numsub("py-a", "py-z"), [("py-a", 1), ("py-z", 0)])
        self.assertIn("py-b", publisher.pubsub_channels("py-*"))
        pubsub.unsubscribe("py-a")
        pubsub.punsubscribe()
        self.next(pubsub, "unsubscribe")
        self.next(pubsub, "punsubscribe")
        self.assertEqual(publisher.publish("py-a", "4"), 0)
        self.assertEqual(publisher.publish("py-news", "4"), 0)
        self.assertEqual(publisher.publish("py-b", "5"), 1)
        self.assertEqual(self.next(pubsub, "message")["data"], "5")
        if self.protocol == 2:
            # In RESP3 redis-py takes the ordinary reply for a message of its own kind.
            pubsub.ping("hello")
            self.assertEqual(self.next(pubsub, "pong")["data"], "hello")

    def test_listener_thread(self):
        publisher, pubsub = self.client(), self.pubsub()
        heard, failures = queue.Queue(), queue.Queue()
        pubsub.subscribe(**{"py-thread": heard.put})
        pubsub.psubscribe(**{"py-thr*": heard.put})
        self.next(pubsub, "subscribe")
        self.next(pubsub, "psubscribe")
        thread = pubsub.run_in_thread(
            sleep_time=0.01,
            daemon=True,
            exception_handler=lambda error, pubsub, thread: failures.put(error),
        )
        for number in range(500):
            self.assertEqual(publisher.publish("py-thread", number), 2)
        messages = [heard.get(timeout=DEADLINE) for _ in range(1000)]
        thread.stop()
        thread.join(DEADLINE)
        self.assertFalse(thread.is_alive())
        self.assertTrue(failures.empty(), list(failures.queue))
        for kind in ["message", "pmessage"]:
            numbers = [int(message["data"]) for message in messages if message["type"] == kind]
            self.assertEqual(numbers, list(range(500)))

    def test_pipelines(self):
        client, pubsub = self.client(), self.pubsub()
        pubsub.subscribe("py-pipe")
        self.next(pubsub, "subscribe")
        for transaction in [False, True]:
            pipeline = client.pipeline(transaction=transaction)
            pipeline.set("py-k", 41).incr("py-k").publish("py-pipe", "x").get("py-k")
            self.assertEqual(pipeline.execute(), [True, 42, 1, "42"])
            self.assertEqual(self.next(pubsub, "message")["data"], "x")
        pipeline = client.pipeline(transaction=False)
        for number in range(1000):
            pipeline.publish("py-pipe", number)
        self.assertEqual(pipeline.execute(), [1] * 1000)
        for number in range(1000):
            self.assertEqual(self.next(pubsub, "message")["data"], str(number))

    def test_health_checks(self):
        publisher, pubsub = self.client(), self.pubsub(health_check_interval=1)
        pubsub.subscribe("py-health")
        self.next(pubsub, "subscribe")
        for _ in range(3):
            # Longer than the interval: the next look at the connection begins with a check.
            self.assertIsNone(pubsub.get_message(timeout=1.2))
        self.assertEqual(publisher.publish("py-health", "x"), 1)
        self.assertEqual(self.next(pubsub, "message")["data"], "x")
        checked = self.client(health_check_interval=1)
        for _ in range(2):
            self.assertTrue(checked.ping())
            self.assertIsNone(pubsub.get_message(timeout=1.2))

    def test_reconnects(self):
        publisher, pubsub = self.client(), self.pubsub(client_name="py-reconnects")
        pubsub.subscribe("py-again")
        pubsub.psubscribe("py-ag*")
        self.next(pubsub, "subscribe")
        self.next(pubsub, "psubscribe")
        for _ in range(3):
            mine = [c for c in publisher.client_list() if c["name"] == "py-reconnects"]
            for connection in mine:
                publisher.client_kill_filter(_id=connection["id"])
            # Reconnects and subscribes again by itself.
            self.next(pubsub, "subscribe")
            self.next(pubsub, "psubscribe")
            self.assertEqual(publisher.publish("py-again", "x"), 2)
            self.next(pubsub, "message")
            self.next(pubsub, "pmessage")


class SyncResp2(Sync, unittest.TestCase):
    """RESP2"""

    protocol = 2


class SyncResp3(Sync, unittest.TestCase):
    """RESP3"""

    protocol = 3
