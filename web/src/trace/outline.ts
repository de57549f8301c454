// What drawing needs of a line. Nearly all lines are of one shape, as turno writes them, and are taken apart without
// making objects of them, which is eight times quicker; any other line is read as JSON. A test compares the two.

import { eventNumber, happens, type Message, readStep, type Step, type Violation } from './step';

// A message as far as its receipt must be found: equal texts are equal messages.
export interface Parcel {
  kind: string;
  content: string;
}

export interface Outline {
  time: number;
  event: number;
  node: number | null;
  from: number | null;
  to: number | null;
  about: number | null;
  takes?: Parcel;
  sends: { to: number | null; parcel: Parcel }[];
  enters: boolean;
  units?: Step['units'];
  detail?: string;
  hasState: boolean;
  violates?: Violation;
}

const flat = String.raw`(\{"kind":"[^{}\\\s]*\})`;
const shape = new RegExp(
  String.raw`^\{"time_ns":(\d{1,15}),"event":"([a-z-]+)","node":(\d{1,5})(?:,"from":(\d{1,5}),"message":${flat})?` +
    String.raw`(?:,"sends":\[\{"to":(\d{1,5}),"message":${flat}\}\])?` +
    String.raw`(,"enters":true,"fence":"\d+")?(,"state":\{[^{}]*\})?\}$`,
);
const none: Outline['sends'] = [];
const numberOf = (digits: string | undefined): number | null => (digits === undefined ? null : Number(digits));

function parcelOf(text: string): Parcel {
  const first = '{"kind":"'.length;
  return { kind: text.slice(first, text.indexOf('"', first)), content: text };
}

export function quickOutline(line: string): Outline | undefined {
  const found = shape.exec(line);
  if (found === null) return undefined;
  const event = eventNumber(found[2]);
  const taken = found[5];
  // What is not as expected is looked at more closely.
  if (event < 0 || event >= happens.lose || (event === happens.receive) !== (taken !== undefined)) return undefined;
  return {
    time: Number(found[1]),
    event,
    node: Number(found[3]),
    from: numberOf(found[4]),
    to: null,
    about: null,
    takes: taken === undefined ? undefined : parcelOf(taken),
    sends: found[7] === undefined ? none : [{ to: Number(found[6]), parcel: parcelOf(found[7]) }],
    enters: found[8] !== undefined,
    hasState: found[9] !== undefined,
  };
}

const asParcel = (message: Message): Parcel => ({ kind: message.kind, content: JSON.stringify(message) });

// Throws NoTrace.
export function thoroughOutline(line: string, number: number): Outline {
  const step = readStep(line, number);
  return {
    time: step.time_ns,
    event: eventNumber(step.event),
    node: step.node,
    from: step.from ?? null,
    to: step.to ?? null,
    about: step.about ?? null,
    takes: step.message && asParcel(step.message),
    sends: step.sends?.map((sent) => ({ to: sent.to, parcel: asParcel(sent.message) })) ?? none,
    enters: step.enters === true,
    units: step.units,
    detail: step.detail,
    hasState: step.state !== undefined,
    violates: step.violates,
  };
}
