// One line of a trace, as docs/trace.md describes it.

export interface Message {
  kind: string;
  [field: string]: unknown;
}

export interface Violation {
  property?: string;
  explanation: string;
  cycle_from?: number;
}

export interface Step {
  time_ns: number;
  event: string;
  node: number | null;
  from?: number | null;
  to?: number | null;
  message?: Message;
  group?: number;
  needs?: { type: number; count: number }[];
  about?: number;
  detail?: string;
  sends?: { to: number | null; message: Message }[];
  enters?: boolean;
  fence?: string;
  units?: { unit: number; fence: string }[];
  state?: Record<string, unknown>;
  violates?: Violation;
}

export const events = [
  'start', 'request', 'release', 'receive', 'crash', 'join', 'view', 'retire', 'spoil', 'lapse', 'leave-late', 'move',
  'suspect', 'expire', 'recover', 'withdraw', 'choose', 'lose', 'repeat', 'bounce',
] as const;
export type EventName = (typeof events)[number];

const numbers = new Map<string, number>(events.map((name, number) => [name, number]));
export const eventNumber = (name: string): number => numbers.get(name) ?? -1;
export const happens = Object.fromEntries(events.map((name, number) => [name, number])) as Record<EventName, number>;

// Who would have a larger number is no node but a mistake.
export const mostNodes = 100_000;

export class NoTrace extends Error {}

const isNode = (value: unknown): boolean =>
  value === null || (Number.isInteger(value) && (value as number) >= 0 && (value as number) < mostNodes);
const isMessage = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && typeof (value as Message).kind === 'string';

// What is wrong with it; nothing if it is a step.
function mistake(step: Step): string {
  if (typeof step !== 'object' || step === null || Array.isArray(step)) return 'it is no JSON object';
  if (typeof step.time_ns !== 'number' || !(step.time_ns >= 0)) return "it has no 'time_ns'";
  if (typeof step.event !== 'string') return "it has no 'event'";
  const event = eventNumber(step.event);
  if (event < 0) return `'${step.event.slice(0, 40)}' is no event of a trace`;
  if (step.node === undefined || !isNode(step.node)) return "'node' is no number of a node";
  const takes = event === happens.receive || event >= happens.lose;
  if (takes && !isMessage(step.message)) return `'${step.event}' has no message`;
  if (takes && (step.from === undefined || !isNode(step.from))) return "'from' is no number of a node";
  if (step.to !== undefined && !isNode(step.to)) return "'to' is no number of a node";
  if (step.about !== undefined && !isNode(step.about)) return "'about' is no number of a node";
  if (step.sends === undefined) return '';
  if (!Array.isArray(step.sends)) return "'sends' is no list";
  for (const sent of step.sends)
    if (typeof sent !== 'object' || sent === null || !isNode(sent.to) || !isMessage(sent.message))
      return "'sends' has something that is no message";
  return '';
}

// Throws NoTrace.
export function readStep(line: string, number: number): Step {
  let step: Step;
  try {
    step = JSON.parse(line);
  } catch {
    throw new NoTrace(
      number === 1
        ? 'This is no trace: its first line is no JSON. turno sim, run and check write traces with --trace.'
        : `This is no whole trace: line ${number} is no JSON. Perhaps the file was cut off.`,
    );
  }
  const wrong = mistake(step);
  if (wrong !== '') throw new NoTrace(`This is no trace: in line ${number} ${wrong}.`);
  return step;
}
