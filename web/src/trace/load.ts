// Gets a trace from a file or from the program that serves the page, and stays responsive meanwhile.

import { NoTrace } from './step';
import { type Trace, TraceReader } from './trace';

export interface Progress {
  name: string;
  bytes: number; // read until now
  total: number;
  steps: number;
}

const pieceSize = 4 << 20;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

async function read(
  name: string, total: number, pieces: AsyncIterable<ArrayBuffer>, tell: (progress: Progress) => void,
): Promise<Trace> {
  const reader = new TraceReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  const decoded = (piece?: ArrayBuffer): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw new NoTrace('This is no trace: it is no text in UTF-8.');
    }
  };
  for await (const piece of pieces) {
    reader.add(decoded(piece));
    bytes += piece.byteLength;
    tell({ name, bytes, total, steps: reader.size });
    await pause();
  }
  reader.add(decoded());
  return reader.finish();
}

export function readFile(file: File, tell: (progress: Progress) => void): Promise<Trace> {
  async function* pieces(): AsyncGenerator<ArrayBuffer> {
    for (let at = 0; at < file.size; at += pieceSize) yield await file.slice(at, at + pieceSize).arrayBuffer();
  }
  return read(file.name, file.size, pieces(), tell);
}

export interface Served {
  name: string;
  bytes: number;
  pieces: number;
}

async function fetched(path: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path);
  } catch {
    throw new NoTrace("The program that served this page does not answer. Does 'turno ui' still run?");
  }
  if (!response.ok) throw new NoTrace(`The program that served this page says: ${await response.text()}`);
  return response;
}

// What the program serves beside the page; nothing if it serves no file, or if the page is a file itself.
export async function whatIsServed(): Promise<Served | undefined> {
  if (!location.protocol.startsWith('http')) return undefined;
  const about = (await (await fetched('trace')).json()) as Partial<Served>;
  return about.name === undefined ? undefined : (about as Served);
}

export function readServed(served: Served, tell: (progress: Progress) => void): Promise<Trace> {
  async function* pieces(): AsyncGenerator<ArrayBuffer> {
    const piece = (number: number) => fetched(`trace/${number}`).then((response) => response.arrayBuffer());
    // The next one is on its way while this one is read.
    let next = served.pieces > 0 ? piece(0) : undefined;
    for (let number = 0; next !== undefined; ++number) {
      const bytes = await next;
      next = number + 1 < served.pieces ? piece(number + 1) : undefined;
      next?.catch(() => {}); // is told when it is waited for
      yield bytes;
    }
  }
  return read(served.name, served.bytes, pieces(), tell);
}
