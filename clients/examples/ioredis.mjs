import { Redis } from 'ioredis';

const [host, port] = process.argv.slice(2);

// A connection of its own: the session is this connection, and ends with it.
const own = new Redis({ host, port });
if ((await own.call('LOCK', 'report', 'TIMEOUT', 5000)) === null) throw new Error('not in time');
// ... what only one may do ...
await own.call('UNLOCK', 'report');

// Many tasks: a session that every connection speaks for, since it knows the id and the secret.
const [username, password] = await own.call('SESSION', 'OPEN', 30000);
const tasks = new Redis({ host, port, username, password });
const news = tasks.duplicate();
const granted = new Promise((resolve) => {
  news.on('message', (channel, text) => {
    if (channel === 'turno:granted') resolve(JSON.parse(text));
    if (channel === 'turno:lost') console.log('stop working:', JSON.parse(text));
  });
});
await news.subscribe('turno:granted', 'turno:lost');
await tasks.call('LOCK', 'backup', 'ASYNC'); // a wait that blocks no other command
const { lock, fence } = await granted;
// ... what only one may do, as long as `turno:lost` does not come ...
await tasks.call('UNLOCK', lock, fence);
await tasks.call('SESSION', 'CLOSE');

for (const client of [own, tasks, news]) client.disconnect();
