// A real cluster for a test: `turno up` in a directory of its own, ended by its process.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';

const binary = process.env.TURNO ?? path.resolve(import.meta.dirname ?? '.', '../build/release/turno');

export class Cluster {
  // Resolves when all nodes have met.
  static async start(nodes = 3) {
    const directory = mkdtempSync(path.join(tmpdir(), 'turno-clients-'));
    const child = spawn(
      binary,
      ['up', '--nodes', `${nodes}`, '--dir', directory, '--lock-delay', '100ms', '--json'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const line = await new Promise((resolve, reject) => {
      readline.createInterface({ input: child.stdout }).once('line', resolve);
      child.once('exit', (code) => reject(new Error(`turno up ended with ${code}`)));
      child.once('error', reject);
    });
    return new Cluster(directory, child, JSON.parse(line).members);
  }

  constructor(directory, child, members) {
    this.directory = directory;
    this.child = child;
    this.nodes = members.map(({ name, pid, client }) => {
      const colon = client.lastIndexOf(':');
      return { name, pid, host: client.slice(0, colon), port: Number(client.slice(colon + 1)) };
    });
  }

  kill(node) {
    process.kill(node.pid, 'SIGKILL');
  }

  async stop() {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}

// Between a client and a node: cut() breaks all connections, as a network does.
export async function proxy(node) {
  const sockets = new Set();
  const server = net.createServer((client) => {
    const there = net.connect(node.port, node.host);
    for (const socket of [client, there]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.pipe(there).pipe(client);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    host: '127.0.0.1',
    port: server.address().port,
    cut,
    close: () => {
      server.close();
      cut();
    },
  };
}

// Until it is so; fails after ten seconds.
export async function eventually(what, condition) {
  const end = Date.now() + 10_000;
  for (;;) {
    try {
      if (await condition()) return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
