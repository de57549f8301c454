// Writes figures as SVG. Texts are somebody's: they are escaped.

import { headOf } from './canvas';
import { colourOf, type Palette } from './palette';
import type { Figure } from './scene';

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const escaped = (text: string): string =>
  // What XML cannot have at all is left out.
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').replace(/[&<>"']/g, (sign) => escapes[sign]);

const n = (value: number): string => String(Math.round(value * 10) / 10);

export function toSvg(figures: Figure[], palette: Palette, width: number, height: number, title: string): string {
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" fill="${palette.paper}"/>`,
    ...figures.map((figure) => element(figure, colourOf(palette, figure.role))),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

function element(figure: Figure, colour: string): string {
  switch (figure.shape) {
    case 'rect':
      return `<rect x="${n(figure.x)}" y="${n(figure.y)}" width="${n(figure.width)}" height="${n(figure.height)}" fill="${colour}"/>`;
    case 'text':
      return `<text x="${n(figure.x)}" y="${n(figure.y)}" text-anchor="${figure.anchor}" fill="${colour}">${escaped(figure.text)}</text>`;
    case 'dot':
      return `<circle cx="${n(figure.x)}" cy="${n(figure.y)}" r="${n(figure.radius)}" ${figure.hollow ? `fill="none" stroke="${colour}" stroke-width="1.6"` : `fill="${colour}"`}/>`;
    case 'cross': {
      const { x, y, radius: r } = figure;
      return `<path d="M${n(x - r)} ${n(y - r)}L${n(x + r)} ${n(y + r)}M${n(x - r)} ${n(y + r)}L${n(x + r)} ${n(y - r)}" stroke="${colour}" stroke-width="2.4"/>`;
    }
    case 'line': {
      const { x1, y1, x2, y2 } = figure;
      const width = figure.wide ? 2.2 : 1.3;
      const stroke = `<line x1="${n(x1)}" y1="${n(y1)}" x2="${n(x2)}" y2="${n(y2)}" stroke="${colour}" stroke-width="${width}"${figure.dashed ? ' stroke-dasharray="5 4"' : ''}/>`;
      if (!figure.arrow) return stroke;
      const [ax, ay, bx, by] = headOf(figure);
      return `${stroke}<path d="M${n(x2)} ${n(y2)}L${n(ax)} ${n(ay)}L${n(bx)} ${n(by)}Z" fill="${colour}"/>`;
    }
  }
}
