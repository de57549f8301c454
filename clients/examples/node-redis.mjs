import { createClient } from 'redis';

const [host, port] = process.argv.slice(2);
const socket = { host, port: Number(port) };

// A connection of its own: the session is this connection, and ends with it.
const own = await createClient({ socket }).on('error', console.error).connect();
const got = await own.sendCommand(['LOCK', 'report', 'TIMEOUT', '5000']);
if (got === null) throw new Error('not in time');
// ... what only one may do ...
await own.sendCommand(['UNLOCK', 'report']);

// Many tasks: a session that every connection speaks for, since it knows the id and the secret.
const [username, password] = await own.sendCommand(['SESSION', 'OPEN', '30000']);
const tasks = await createClient({ socket, username, password }).on('error', console.error).connect();
const news = await tasks.duplicate().on('error', console.error).connect();
await news.subscribe('turno:lost', (text) => console.log('stop working:', JSON.parse(text)));
let tell;
const granted = new Promise((resolve) => (tell = resolve));
await news.subscribe('turno:granted', (text) => tell(JSON.parse(text)));
await tasks.sendCommand(['LOCK', 'backup', 'ASYNC']); // a wait that blocks no other command
const { lock, fence } = await granted;
// ... what only one may do, as long as `turno:lost` does not come ...
await tasks.sendCommand(['UNLOCK', lock, fence]);
await tasks.sendCommand(['SESSION', 'CLOSE']);

await Promise.all([own, tasks, news].map((client) => client.disconnect()));
