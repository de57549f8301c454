// Colours by what they mean, light and dark. Lines and text reach 3:1 and 4.5:1 on their paper.

import type { Role } from './scene';

export type Palette = Record<Exclude<Role, `kind-${number}`>, string> & { kinds: string[] };

export const light: Palette = {
  paper: '#ffffff', axis: '#57606a', grid: '#eef0f3', lane: '#c9d0d8', label: '#24292f',
  waiting: '#f0b849', inside: '#2f8f5b', 'inside-text': '#ffffff', dead: '#9aa2ab',
  dot: '#6b7480', timer: '#7a5195', wrong: '#cf222e', 'wrong-band': '#cf222e26', cycle: '#8250df14',
  now: '#0969da', chosen: '#0969da',
  kinds: ['#0969da', '#b35900', '#8250df', '#bf3989', '#1b7c83', '#6e5d00', '#57606a', '#a40e26'],
};

export const dark: Palette = {
  paper: '#0f1419', axis: '#9aa5b1', grid: '#1b222a', lane: '#3a444f', label: '#e6edf3',
  waiting: '#b7832a', inside: '#2c9d62', 'inside-text': '#ffffff', dead: '#5b6570',
  dot: '#8b96a3', timer: '#c297e0', wrong: '#ff6b6b', 'wrong-band': '#ff6b6b30', cycle: '#a371f71c',
  now: '#58a6ff', chosen: '#58a6ff',
  kinds: ['#58a6ff', '#ffa657', '#bc8cff', '#ff7bc0', '#39c5cf', '#d4c04a', '#9aa5b1', '#ff8f87'],
};

export const colourOf = (palette: Palette, role: Role): string =>
  role.startsWith('kind-')
    ? palette.kinds[Number(role.slice(5)) % palette.kinds.length]
    : palette[role as Exclude<Role, `kind-${number}`>];
