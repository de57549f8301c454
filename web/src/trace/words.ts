// What happens, in words. Names and values of a trace are somebody's text: whoever shows it shows it as text.

import { fate } from './flights';
import { happens, type Message, type Step } from './step';
import { contentAt, type Trace } from './trace';

// As turno prints it: the count, and the epoch before it if it is not the first.
export function fenceText(digits: string): string {
  if (!/^\d{1,20}$/.test(digits)) return digits;
  const fence = BigInt(digits);
  const epoch = fence >> 28n;
  const count = fence & ((1n << 28n) - 1n);
  return epoch > 1n ? `${epoch}:${count}` : `${count}`;
}

const isFence = (field: string, value: unknown): value is string =>
  field.includes('fence') && typeof value === 'string';

export function valueText(field: string, value: unknown): string {
  if (value === null) return '-';
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (isFence(field, value)) return fenceText(value);
  if (Array.isArray(value)) return `[${value.map((each) => valueText('', each)).join(' ')}]`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function fieldsText(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([field, value]) => `${field} ${valueText(field, value)}`)
    .join(', ');
}

// token(fence 3)
export function messageText(message: Message): string {
  const { kind, ...fields } = message;
  const text = fieldsText(fields);
  return text === '' ? kind : `${kind}(${text})`;
}

export const nodeText = (node: number | null | undefined): string =>
  node === null || node === undefined || node < 0 ? 'nobody' : `${node}`;

function wanted(step: Step): string {
  const needs = (step.needs ?? []).map((need) => `${need.count} of type ${need.type}`).join(', ');
  const group = step.group ? ` with group ${step.group}` : '';
  return (needs === '' ? 'in' : needs) + group;
}

export function enteredText(step: Step): string {
  if (!step.units?.length) return `fence ${fenceText(step.fence ?? '')}`;
  return step.units.map((unit) => `unit ${unit.unit} fence ${fenceText(unit.fence)}`).join(', ');
}

// "2 gets token(fence 3) from 1, enters (fence 4)"
export function headline(step: Step): string {
  return step.enters ? `${deed(step)}, enters (${enteredText(step)})` : deed(step);
}

function deed(step: Step): string {
  const who = nodeText(step.node);
  const message = step.message ? messageText(step.message) : '';
  const path = `${nodeText(step.from)} -> ${nodeText(step.to)} ${message}`;
  switch (step.event) {
    case 'start': return `${who} starts`;
    case 'request': return `${who} wants ${wanted(step)}`;
    case 'release': return step.detail ? `${who} gives back ${step.detail}` : `${who} leaves`;
    case 'receive': return `${who} gets ${message} from ${nodeText(step.from)}`;
    case 'crash': return `${who} crashes`;
    case 'recover': return `${who} recovers`;
    case 'join': return `${who} joins`;
    case 'view': return `${who} learns of the new view`;
    case 'retire': return `${who} retires the lock`;
    case 'spoil': return `${who} is sent what cannot be`;
    case 'lapse': return `${who}'s user has had its time`;
    case 'leave-late': return `${who}'s user leaves, and does not know that its time was over`;
    case 'move': return `${who}'s user moves to another member`;
    case 'suspect': return `${who} suspects ${nodeText(step.about)}`;
    case 'expire': return `${who}'s timer '${step.detail ?? ''}' expires`;
    case 'withdraw': return `${who} does not want to wait any more`;
    case 'choose': return `${who} chooses: ${step.detail ?? ''}`;
    case 'lose': return `lost: ${path}`;
    case 'repeat': return `doubled: ${path}`;
    case 'bounce': return `comes back: ${path}`;
  }
  return `${who}: ${step.event}`;
}

const units = [
  { size: 1e9, name: 's' },
  { size: 1e6, name: 'ms' },
  { size: 1e3, name: 'us' },
  { size: 1, name: 'ns' },
];

// With so many digits that times which differ by `precision` nanoseconds look different.
export function timeText(time: number, precision = 1): string {
  const unit = units.find((each) => Math.abs(time) >= each.size) ?? units[3];
  const digits = Math.min(9, Math.max(0, Math.ceil(Math.log10(unit.size / precision) - 1e-9)));
  const text = (time / unit.size).toFixed(digits);
  return `${text.includes('.') ? text.replace(/\.?0+$/, '') : text} ${unit.name}`;
}

// To seven digits.
export const shortTime = (time: number): string => timeText(time, Math.max(1, Math.abs(time) / 1e6));

// "at 4.135 ms", or "in step 3" where times count steps.
export const whenText = (trace: Trace, step: number): string =>
  trace.counts ? `in step ${step + 1}` : `at ${shortTime(trace.time[step])} (step ${step + 1})`;

// A message in words: from whom, to whom, and what became of it.
export function messageStory(trace: Trace, message: number): string {
  const { from, to, sent, ended, fate: fates } = trace.messages;
  const what = messageText(contentAt(trace, message));
  const parties = `${what} from ${nodeText(from[message])} to ${nodeText(to[message])}`;
  const copy = sent[message] >= 0 && trace.event[sent[message]] === happens.repeat;
  const start =
    sent[message] < 0 ? 'sent before the trace begins' : `${copy ? 'doubled' : 'sent'} ${whenText(trace, sent[message])}`;
  if (fates[message] === fate.under_way)
    return `${parties}: ${start}, ${to[message] < 0 ? 'to nobody' : 'nobody gets it in this trace'}`;
  const how = fates[message] === fate.received ? 'arrives' : fates[message] === fate.lost ? 'lost' : 'comes back';
  const taken =
    trace.counts || sent[message] < 0
      ? ''
      : `, ${shortTime(trace.time[ended[message]] - trace.time[sent[message]])} on its way`;
  return `${parties}: ${start}, ${how} ${whenText(trace, ended[message])}${taken}`;
}
