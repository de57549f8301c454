// What docs/clients.md promises to users of these libraries.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Cluster, eventually, proxy } from './cluster.mjs';
import { libraries } from './libraries.mjs';

let cluster;
before(async () => {
  cluster = await Cluster.start(3);
});
after(() => cluster.stop());

let names = 0;
const fresh = () => `lock-${++names}`;

for (const library of libraries) {
  describe(library.name, { timeout: 60_000 }, () => {
    const open = [];
    const connect = async (options, node = cluster.nodes[0]) => {
      const made = await library.connect(node, options);
      open.push(made);
      return made;
    };
    after(() => {
      for (const connection of open) connection.close();
    });

    test('locks and unlocks, and fences grow', async () => {
      const one = await connect(), two = await connect(), name = fresh();
      const fence = await one.call('LOCK', name);
      assert.ok(Number(fence) > 0);
      assert.equal(await two.call('LOCK', name, 'TIMEOUT', '20'), null);
      assert.equal(await two.call('UNLOCK', name), 0);
      assert.equal(await one.call('UNLOCK', name, `${fence}`), 1);
      assert.ok(BigInt(await two.call('LOCK', name)) > BigInt(fence));
      assert.equal(await two.call('UNLOCK', name), 1);
      await assert.rejects(one.call('LOCK'), /wrong number of arguments/);
    });

    test('pipelines keep their order', async () => {
      const one = await connect(), name = fresh();
      const commands = [];
      for (let i = 0; i < 100; ++i) commands.push(['LOCK', name], ['UNLOCK', name], ['ECHO', `${i}`]);
      const replies = await one.pipeline(commands);
      for (let i = 0; i < 100; ++i) {
        assert.ok(Number(replies[3 * i]) > 0);
        assert.equal(replies[3 * i + 1], 1);
        assert.equal(replies[3 * i + 2], `${i}`);
      }
    });

    test('of a transaction nothing is done', async () => {
      const one = await connect(), two = await connect(), name = fresh();
      await assert.rejects(one.multi(['LOCK', name]), (error) =>
        /EXECABORT|inside MULTI/.test(`${error.message} ${error.errors ?? ''}`));
      assert.ok(Number(await two.call('LOCK', name, 'TIMEOUT', '1000')) > 0);
      assert.equal(await two.call('UNLOCK', name), 1);
      assert.equal(await one.call('ECHO', 'alive'), 'alive');
    });

    test('a password that was never set is refused', async () => {
      await assert.rejects(
        (async () => {
          const made = await connect({ username: 'somebody', password: 'secret', once: true });
          await made.call('ECHO', 'x');
        })(),
        /WRONGPASS/,
      );
    });

    test('every connection with the id and the secret speaks for the session', async () => {
      const opener = await connect(), name = fresh();
      const [username, password] = await opener.call('SESSION', 'OPEN', '60000');
      const one = await connect({ username, password }), two = await connect({ username, password });
      const waiting = opener.call('LOCK', name, 'TIMEOUT', '5000');
      await waiting;
      assert.equal(await opener.call('UNLOCK', name), 1);
      await one.call('LOCK', name);
      // The connection that took it is gone, the session is not.
      one.close();
      assert.equal(await opener.call('LOCK', name, 'TIMEOUT', '50'), null);
      assert.equal(await two.call('UNLOCK', name), 1);
      assert.equal(await two.call('SESSION', 'CLOSE'), 'OK');
      await assert.rejects(two.call('LOCK', name), /NOSESSION/);
    });

    test('after a broken connection it speaks for its session again', async () => {
      const way = await proxy(cluster.nodes[0]);
      const opener = await connect(), name = fresh();
      const [username, password] = await opener.call('SESSION', 'OPEN', '60000');
      const session = await connect({ username, password }, way);
      const news = await session.duplicate();
      open.push(news);
      const heard = [];
      await news.subscribe('turno:lost', (text) => heard.push(JSON.parse(text)));
      await session.call('LOCK', name);
      way.cut();
      await eventually('connected again', async () => (await session.call('ECHO', 'x')) === 'x');
      assert.equal(await session.call('UNLOCK', name), 1);
      // So does the subscriber, by itself.
      await eventually('lost', async () => {
        await session.call('LOCK', name, 'TTL', '20', 'TIMEOUT', '0', 'ASYNC');
        return heard.length > 0;
      });
      way.close();
    });

    test('hears of what was lost and granted by subscription, and a wait blocks nothing', async () => {
      const opener = await connect(), holder = await connect(), name = fresh();
      const [username, password] = await opener.call('SESSION', 'OPEN', '60000');
      const session = await connect({ username, password });
      const subscriber = await session.duplicate();
      open.push(subscriber);
      const heard = [];
      await subscriber.subscribe('turno:lost', (text) => heard.push(JSON.parse(text)));
      await subscriber.subscribe('turno:granted', (text) => heard.push(JSON.parse(text)));

      await holder.call('LOCK', name);
      const ticket = await session.call('LOCK', name, 'ASYNC');
      assert.equal(await session.call('ECHO', 'not blocked'), 'not blocked');
      assert.deepEqual(await session.call('TICKET', `${ticket}`), ['waiting', name]);
      await holder.call('UNLOCK', name);
      await eventually('granted', () => heard.some(({ event }) => event === 'granted'));
      const granted = heard.find(({ event }) => event === 'granted');
      assert.equal(granted.lock, name);
      assert.equal(granted.ticket, ticket);
      assert.match(granted.fence, /^[0-9]+$/);  // a text: no digit is lost
      assert.equal(await session.call('UNLOCK', name, granted.fence), 1);

      await session.call('LOCK', name, 'TTL', '50');
      await eventually('lost', () => heard.some(({ event }) => event === 'lost'));
      const lost = heard.find(({ event }) => event === 'lost');
      assert.deepEqual([lost.lock, lost.reason], [name, 'its time to live ran out']);
      assert.equal(await session.call('UNLOCK', name), 0);
    });

    if (library.failover)
      test('goes to another node when its node is killed', async () => {
        const doomed = await Cluster.start(3);
        try {
          const client = await library.failover(doomed.nodes);
          const name = fresh();
          await client.call('LOCK', name);
          const info = await client.call('INFO', 'server');
          const node = doomed.nodes.find((each) => info.includes(`node:${each.name}\r\n`));
          doomed.kill(node);
          await eventually('a lock at another node', async () => {
            const reply = await client.call('LOCK', name, 'TIMEOUT', '3000');
            return Number(reply) > 0;
          });
          const now = await client.call('INFO', 'server');
          assert.ok(!now.includes(`node:${node.name}\r\n`));
          client.close();
        } finally {
          await doomed.stop();
        }
      });
  });
}
