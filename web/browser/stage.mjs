// What browser tests share: Chromium, and turno serving a trace.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import puppeteer from 'puppeteer-core';

export const turno = process.env.TURNO ?? '../build/release/turno';

export function scratch() {
  const path = mkdtempSync(join(tmpdir(), 'turno-page-'));
  return { path, file: (name) => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function browser(profile) {
  return puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
      // It talks to this machine, whatever proxy there is.
      '--no-proxy-server',
      `--user-data-dir=${profile}`,
    ],
  });
}

// Runs turno until it prints the address of a page.
export async function serve(...words) {
  const child = spawn(turno, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code)));
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('http://')) continue;
    return {
      address: line,
      stop() {
        child.kill('SIGINT');
        return ended;
      },
    };
  }
  throw new Error(`turno ${words.join(' ')} printed no address`);
}
