import json
import sys

import redis

host, port = sys.argv[1], int(sys.argv[2])

# A connection of its own: the session is this connection, and ends with it.
own = redis.Redis(host, port, single_connection_client=True)
if own.execute_command("LOCK", "report", "TIMEOUT", 5000) is None:
    raise SystemExit("not in time")
# ... what only one may do ...
own.execute_command("UNLOCK", "report")

# Many threads: a session that every connection of the pool speaks for, since it knows the id and
# the secret.
session, secret = own.execute_command("SESSION", "OPEN", 30000)
pool = redis.Redis(host, port, username=session.decode(), password=secret.decode())
news = pool.pubsub()
news.subscribe("turno:granted", "turno:lost")
for _ in range(2):
    news.get_message(timeout=5)  # confirmed: from now on no news is missed
pool.execute_command("LOCK", "backup", "ASYNC")  # a wait that blocks no connection of the pool
granted = json.loads(news.get_message(timeout=5)["data"])
# ... what only one may do, as long as `turno:lost` does not come ...
pool.execute_command("UNLOCK", granted["lock"], granted["fence"])
pool.execute_command("SESSION", "CLOSE")
