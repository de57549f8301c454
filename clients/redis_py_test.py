"""What docs/clients.md promises to users of redis-py, and that its examples are those that run."""

import json
import pathlib
import subprocess
import sys
import threading
import unittest

import redis
import redis.sentinel

from cluster import ROOT, Cluster, eventually

HERE = pathlib.Path(__file__).resolve().parent


class RedisPy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()

    def connect(self, **options):
        node = self.cluster.nodes[0]
        options.setdefault("single_connection_client", True)
        client = redis.Redis(node["host"], node["port"], decode_responses=True, **options)
        self.addCleanup(client.close)
        return client

    def test_locks_and_unlocks(self):
        one, two = self.connect(client_name="one"), self.connect()
        fence = one.execute_command("LOCK", "a")
        self.assertGreater(int(fence), 0)
        self.assertIsNone(two.execute_command("LOCK", "a", "TIMEOUT", 20))
        self.assertEqual(one.execute_command("UNLOCK", "a", fence), 1)
        self.assertGreater(int(two.execute_command("LOCK", "a")), int(fence))
        self.assertTrue(one.ping())
        self.assertEqual(one.info("server")["redis_mode"], "standalone")
        self.assertEqual(one.config_get("save"), {"save": ""})

    def test_pipelines(self):
        pipeline = self.connect().pipeline(transaction=False)
        for _ in range(100):
            pipeline.execute_command("LOCK", "piped")
            pipeline.execute_command("UNLOCK", "piped")
        replies = pipeline.execute()
        self.assertEqual(replies[1::2], [1] * 100)
        self.assertEqual(replies[0::2], sorted(replies[0::2]))

    def test_of_a_transaction_nothing_is_done(self):
        one, two = self.connect(), self.connect()
        pipeline = one.pipeline(transaction=True)
        pipeline.execute_command("LOCK", "m")
        with self.assertRaisesRegex(redis.ResponseError, "inside MULTI"):
            pipeline.execute()
        self.assertIsNotNone(two.execute_command("LOCK", "m", "TIMEOUT", 1000))
        self.assertTrue(one.ping())

    def test_passwords_and_databases_are_refused(self):
        with self.assertRaisesRegex(redis.RedisError, "WRONGPASS|invalid username-password"):
            self.connect(username="somebody", password="secret").ping()
        with self.assertRaisesRegex(redis.RedisError, "AUTH <password> called without"):
            self.connect(password="secret").ping()
        with self.assertRaisesRegex(redis.RedisError, "only database 0"):
            self.connect(db=1).ping()

    def test_a_pool_with_a_session(self):
        session, secret = self.connect().execute_command("SESSION", "OPEN", 60000)
        pool = self.connect(username=session, password=secret, single_connection_client=False)
        holder = self.connect()
        holder.execute_command("LOCK", "p2")
        self.assertIsNotNone(pool.execute_command("LOCK", "p1"))
        got = []
        waiter = threading.Thread(target=lambda: got.append(pool.execute_command("LOCK", "p2")))
        waiter.start()
        self.assertTrue(eventually(lambda: holder.execute_command("WAITERS", "p2")))
        # The first connection waits, this is another one; and it is the same session.
        self.assertEqual(pool.execute_command("UNLOCK", "p1"), 1)
        holder.execute_command("UNLOCK", "p2")
        waiter.join()
        self.assertIsNotNone(got[0])
        pool.connection_pool.disconnect()
        self.assertEqual(pool.execute_command("UNLOCK", "p2"), 1)

    def test_without_one_a_pool_forgets(self):
        """What docs/clients.md warns of."""
        pool = self.connect(single_connection_client=False)
        holder = self.connect()
        holder.execute_command("LOCK", "w2")
        pool.execute_command("LOCK", "w1")
        waiter = threading.Thread(target=lambda: pool.execute_command("LOCK", "w2"))
        waiter.start()
        self.assertTrue(eventually(lambda: holder.execute_command("WAITERS", "w2")))
        self.assertEqual(pool.execute_command("UNLOCK", "w1"), 0)
        holder.execute_command("UNLOCK", "w2")
        waiter.join()

    def test_news_by_subscription(self):
        session, secret = self.connect().execute_command("SESSION", "OPEN", 60000)
        pool = self.connect(username=session, password=secret, single_connection_client=False)
        news = pool.pubsub(ignore_subscribe_messages=True)
        news.psubscribe("turno:*")
        self.assertIsNone(news.get_message(timeout=1))
        ticket = pool.execute_command("LOCK", "n", "TTL", 50, "ASYNC")
        heard = []

        def lost():
            message = news.get_message(timeout=1)
            if message:
                heard.append(json.loads(message["data"]))
            return heard and heard[-1]["event"] == "lost"

        self.assertTrue(eventually(lost))
        self.assertEqual([each["event"] for each in heard], ["granted", "lost"])
        self.assertEqual(heard[0]["ticket"], ticket)
        self.assertEqual(heard[0]["fence"], heard[1]["fence"])
        self.assertTrue(news.check_health() is None)
        news.close()

    def test_goes_to_another_node_when_its_node_is_killed(self):
        cluster = Cluster()
        try:
            sentinel = redis.sentinel.Sentinel(
                [(node["host"], node["port"]) for node in cluster.nodes], socket_timeout=5)
            client = sentinel.master_for("turno", decode_responses=True)
            client.execute_command("LOCK", "f")
            name = client.info("server")["node"]
            cluster.kill(next(node for node in cluster.nodes if node["name"] == name))
            self.assertTrue(eventually(
                lambda: client.execute_command("LOCK", "f", "TIMEOUT", 3000) is not None))
            self.assertNotEqual(client.info("server")["node"], name)
            client.close()
        finally:
            cluster.stop()


class Examples(unittest.TestCase):
    """They run, and docs/clients.md shows them as they are."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(1)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()

    def check(self, name, *command):
        text = (HERE / "examples" / name).read_text()
        manual = (ROOT / "docs/clients.md").read_text()
        self.assertTrue(text in manual, "docs/clients.md shows another " + name)
        node = self.cluster.nodes[0]
        done = subprocess.run([*command, node["host"], str(node["port"])], timeout=60,
                              capture_output=True, text=True, check=False, cwd=HERE)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_redis_py(self):
        self.check("redis_py.py", sys.executable, str(HERE / "examples/redis_py.py"))

    def check_javascript(self, name, package, versions):
        for version in versions:
            with self.subTest(version=version):
                # The example names the package; here several versions of it are installed.
                text = (HERE / "examples" / name).read_text()
                copy = HERE / "node_modules" / f".example-{version}.mjs"
                copy.write_text(text.replace(f"from '{package}'", f"from '{version}'"))
                self.check(name, "node", str(copy))
                copy.unlink()

    def test_ioredis(self):
        self.check_javascript("ioredis.mjs", "ioredis", ["ioredis5", "ioredis6"])

    def test_node_redis(self):
        self.check_javascript("node-redis.mjs", "redis", ["redis4", "redis5", "redis6"])


if __name__ == "__main__":
    unittest.main()
