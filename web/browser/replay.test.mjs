// A real browser looks at what turno serves: a recorded simulation, and a counterexample of the checker.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { browser, scratch, serve, turno } from './stage.mjs';

const place = scratch();
let chromium;
const servers = [];

before(async () => {
  chromium = await browser(place.file('profile'));
});
after(async () => {
  await chromium?.close();
  for (const server of servers) await server.stop();
  place.remove();
});

const complaints = [];

async function open(...words) {
  const server = await serve(...words);
  servers.push(server);
  const page = await chromium.newPage();
  // A policy that stops something of the page's own is told here, too.
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.setViewport({ width: 1100, height: 700 });
  const response = await page.goto(server.address);
  return { server, page, response };
}

const text = (page, selector) => page.$eval(selector, (element) => element.innerText.replace(/\s+/g, ' ').trim());
const now = (page) => text(page, '[aria-current=step]');
async function until(page, what, ...values) {
  await page.waitForFunction(what, { timeout: 15_000 }, ...values);
}

test('a recorded simulation is replayed step by step', async () => {
  const file = place.file('run.jsonl');
  execFileSync(turno, ['sim', 'nxr', '--nodes', '5', '--entries', '40', '--seed', '7', '--states', '--trace', file]);
  const lines = readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  const { page } = await open('ui', file);
  await page.waitForSelector('[role=toolbar]');
  assert.match(await text(page, 'header'), new RegExp(`run.jsonl 5 nodes, ${lines.length} steps`));
  assert.equal(await page.title(), 'run.jsonl - Turno');

  // Every step says what its line says, forwards and back.
  const who = (line) => (line.event === 'request' ? `${line.node} wants in` : line.event === 'release' ? `${line.node} leaves` : `${line.node} gets ${line.message.kind}`);
  for (let i = 0; i < 12; ++i) {
    assert.ok((await now(page)).includes(`${i + 1} ${who(lines[i])}`), `step ${i + 1}: ${await now(page)}`);
    if (i < 11) await page.keyboard.press('ArrowRight');
  }
  await page.keyboard.press('ArrowLeft');
  assert.ok((await now(page)).includes(`11 ${who(lines[10])}`));
  await page.keyboard.press('End');
  assert.match(await now(page), new RegExp(`^${lines.length} `));

  // The states are those of the file: who has the token says so.
  const last = lines.at(-1);
  const row = await page.$$eval('tbody tr', (rows, node) => rows.find((each) => each.querySelector('th').innerText === String(node)).innerText, last.node);
  assert.equal(last.state.token, true);
  assert.match(row, /token yes/);

  // A filter takes nodes away.
  await page.keyboard.press('f');
  await page.type('.filters input[type=text]', '0-1');
  await until(page, () => document.querySelectorAll('tbody tr').length <= 3);
  await page.type('.filters input[type=text]', ',9');
  await page.waitForSelector('.filters [role=alert]');
});

test('a counterexample is replayed, and what it violates is marked', async () => {
  const { page, server } = await open(
    'check', 'nxr', '--as-published', 'kept-on-exit', '--nodes', '2', '--requests', '2', '--property', 'exclusion', '--open',
  );
  await page.waitForSelector('.violation');
  assert.match(await text(page, '.violation'), /Violated: exclusion\. two nodes are inside at once, in step 6\./);
  assert.match(await now(page), /6 1 gets token\(fence 1\) from 0, enters \(fence 2\) exclusion: two nodes are inside at once/);
  const inside = () => page.$$eval('tbody .inside', (found) => found.length);
  assert.equal(await inside(), 2);
  await page.keyboard.press('ArrowLeft');
  assert.equal(await inside(), 1);
  await page.keyboard.press('Home');
  assert.match(await now(page), /^1 0 wants in, enters \(fence 1\)/);
  await page.click('.violation button');
  assert.match(await now(page), /^6 /);

  // Somebody who points at the token is told of it.
  const box = await (await page.$('canvas')).boundingBox();
  let hint = '';
  for (let y = 30; y < box.height && !/token/.test(hint); y += 6)
    for (let x = box.width * 0.6; x < box.width * 0.9 && !/token/.test(hint); x += 12) {
      await page.mouse.move(box.x + x, box.y + y);
      hint = await page.evaluate(() => document.querySelector('[role=tooltip]')?.innerText ?? '');
    }
  assert.match(hint, /token\(fence 1\) from 0 to 1: sent in step 4, arrives in step 6/);

  // The picture, as SVG.
  const client = await page.createCDPSession();
  await client.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: place.path });
  await page.evaluate(() => [...document.querySelectorAll('button')].find((button) => button.innerText === 'SVG').click());
  const svg = place.file('nxr.svg');
  for (let i = 0; i < 100 && !existsSync(svg); ++i) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.match(readFileSync(svg, 'utf8'), /^<svg [^]*fence 1[^]*<\/svg>\n$/);

  // Ctrl-C ends it with the exit status of the check.
  assert.equal(await server.stop(), 1);
});

test('the page can do nothing but show', async () => {
  const { page, response, server } = await open('ui');
  const headers = response.headers();
  const policy = headers['content-security-policy'];
  assert.match(policy, /default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.equal(headers['x-frame-options'], 'DENY');
  assert.equal(headers['cache-control'], 'no-store');
  await page.waitForSelector('pre');

  // A script that gets into the page does not run, and nobody else is asked for anything.
  const before = complaints.length;
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.broken = true';
    document.body.append(script);
  });
  assert.equal(await page.evaluate(() => window.broken), undefined);
  const elsewhere = await page.evaluate(() => fetch('http://127.0.0.2:9/').then(() => 'asked', () => 'refused'));
  assert.equal(elsewhere, 'refused');
  complaints.splice(before);

  // Without the token there is nothing.
  const { origin } = new URL(server.address);
  for (const path of ['/', '/trace', '/0123456789abcdef0123456789abcdef/', '/../etc/passwd'])
    assert.equal((await fetch(origin + path)).status, 404, path);
});

async function drop(page, name, content) {
  const file = place.file(name);
  writeFileSync(file, content);
  const input = await page.$('input[type=file]');
  await input.uploadFile(file);
}

test('a file that is opened is shown, and names full of HTML are text', async () => {
  const { page } = await open('ui');
  await page.waitForSelector('pre');
  const evil = '<img src=x onerror=window.broken=1><b>bold</b>';
  await drop(page, 'evil.jsonl', [
    { time_ns: 1, event: 'expire', node: 0, detail: evil, sends: [{ to: 1, message: { kind: evil, [evil]: evil } }], state: { [evil]: evil } },
    { time_ns: 2, event: 'receive', node: 1, from: 0, message: { kind: evil, [evil]: evil }, violates: { property: evil, explanation: evil } },
  ].map((line) => JSON.stringify(line)).join('\n'));
  await page.waitForSelector('[role=toolbar]');
  await page.keyboard.press('f');
  await page.waitForSelector('.filters');
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.equal(await page.evaluate(() => document.querySelectorAll('img, b').length), 0);
  assert.ok((await text(page, '.violation')).includes(evil));
  assert.ok((await text(page, '.filters')).includes(evil));
});

test('what is no trace is refused with the reason', async () => {
  const { page } = await open('ui');
  await page.waitForSelector('pre');
  await drop(page, 'notes.txt', 'Dear all,\n');
  await page.waitForSelector('[role=alert]');
  assert.match(await text(page, '[role=alert]'), /notes\.txt This is no trace: its first line is no JSON/);
  await drop(page, 'cut.jsonl', '{"time_ns":1,"event":"request","node":0}\n{"time_ns":2,"ev');
  await until(page, () => document.querySelector('[role=alert]')?.innerText.includes('cut.jsonl'));
  assert.match(await text(page, '[role=alert]'), /line 2 is no JSON/);
});

test('a dropped file is shown', async () => {
  const { page } = await open('ui');
  await page.waitForSelector('pre');
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(['{"time_ns":5,"event":"crash","node":3}\n'], 'dropped.jsonl'));
    window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true }));
  });
  await page.waitForSelector('[role=toolbar]');
  assert.match(await text(page, 'header'), /dropped\.jsonl 4 nodes, 1 step/);
});

test('nothing went wrong in the page meanwhile', () => {
  assert.deepEqual(complaints, []);
});
