// The libraries under test behind one face, each used as its own manual says.
import * as ioredis5 from 'ioredis5';
import * as redis4 from 'redis4';
import * as redis5 from 'redis5';

const is_new = Number(process.versions.node.split('.')[0]) >= 20;

function ioredis(name, module) {
  const { Redis } = module;
  const wrap = (client) => {
    client.on('error', () => {});
    return {
      call: (...words) => client.call(...words),
      pipeline: async (commands) => {
        const pipeline = client.pipeline();
        for (const words of commands) pipeline.call(...words);
        return (await pipeline.exec()).map(([error, reply]) => {
          if (error) throw error;
          return reply;
        });
      },
      multi: (words) => client.multi().call(...words).exec(),
      subscribe: async (channel, heard) => {
        client.on('message', (from, text) => heard(text, from));
        return client.subscribe(channel);
      },
      duplicate: async () => wrap(client.duplicate()),
      close: () => client.disconnect(),
    };
  };
  return {
    name,
    connect: async (node, { username, password, once = false } = {}) => {
      const client = new Redis({
        host: node.host, port: node.port, username, password, lazyConnect: true,
        retryStrategy: (times) => (once || times > 50 ? null : 50),
      });
      const wrapped = wrap(client);
      // It rejects with "Connection is closed."; why that is so it tells by an event.
      let reason;
      client.on('error', (error) => (reason = error));
      await client.connect().catch((error) => {
        throw reason ?? error;
      });
      return wrapped;
    },
    failover: async (nodes) =>
      wrap(new Redis({
        sentinels: nodes.map(({ host, port }) => ({ host, port })),
        name: 'turno',
        sentinelRetryStrategy: () => 50,
        retryStrategy: () => 50,
      })),
  };
}

function nodeRedis(name, module, options = {}) {
  const wrap = (client) => {
    client.on('error', () => {});
    return {
      call: (...words) => client.sendCommand(words),
      pipeline: (commands) => Promise.all(commands.map((words) => client.sendCommand(words))),
      multi: (words) => client.multi().addCommand(words).exec(),
      subscribe: (channel, heard) => client.subscribe(channel, heard),
      duplicate: async () => {
        const other = client.duplicate();
        const wrapped = wrap(other);
        await other.connect();
        return wrapped;
      },
      close: () => {
        if (client.isOpen) Promise.resolve((client.destroy ?? client.disconnect).call(client)).catch(() => {});
      },
    };
  };
  const library = {
    name,
    connect: async (node, { username, password, once = false } = {}) => {
      const client = module.createClient({
        ...options,
        username,
        password,
        socket: {
          host: node.host, port: node.port,
          reconnectStrategy: (times) => (once || times > 50 ? false : 50),
        },
      });
      const wrapped = wrap(client);
      await client.connect();
      return wrapped;
    },
  };
  if (module.createSentinel)
    library.failover = async (nodes) => {
      const sentinel = module.createSentinel({
        name: 'turno',
        sentinelRootNodes: nodes.map(({ host, port }) => ({ host, port })),
        nodeClientOptions: { ...options },
      });
      sentinel.on('error', () => {});
      await sentinel.connect();
      return {
        call: (...words) => sentinel.sendCommand(false, words),
        close: () => sentinel.destroy(),
      };
    };
  return library;
}

export const libraries = [
  ioredis('ioredis 5', ioredis5),
  nodeRedis('node-redis 4', redis4),
  nodeRedis('node-redis 5', redis5),
  nodeRedis('node-redis 5, version 3', redis5, { RESP: 3 }),
];

if (is_new) {
  const ioredis6 = await import('ioredis6');
  const redis6 = await import('redis6');
  libraries.push(ioredis('ioredis 6', ioredis6), nodeRedis('node-redis 6', redis6));
} else {
  console.error('Node is older than 20: ioredis 6 and node-redis 6 are left out.');
}
