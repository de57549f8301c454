// Paints figures on a canvas.

import { colourOf, type Palette } from './palette';
import type { Figure } from './scene';

export const font = '12px system-ui, sans-serif';

export function paint(context: CanvasRenderingContext2D, figures: Figure[], palette: Palette, width: number, height: number): void {
  context.fillStyle = palette.paper;
  context.fillRect(0, 0, width, height);
  context.font = font;
  for (const figure of figures) {
    const colour = colourOf(palette, figure.role);
    context.strokeStyle = colour;
    context.fillStyle = colour;
    switch (figure.shape) {
      case 'rect':
        context.fillRect(figure.x, figure.y, figure.width, figure.height);
        break;
      case 'line':
        line(context, figure);
        break;
      case 'text':
        context.textAlign = figure.anchor === 'middle' ? 'center' : figure.anchor;
        context.fillText(figure.text, figure.x, figure.y, figure.width);
        break;
      case 'dot':
        // Nobody sees that the smallest are square, which is much quicker.
        if (figure.radius < 2) {
          context.fillRect(figure.x - figure.radius, figure.y - figure.radius, 2 * figure.radius, 2 * figure.radius);
          break;
        }
        context.lineWidth = 1.6;
        context.beginPath();
        context.arc(figure.x, figure.y, figure.radius, 0, 2 * Math.PI);
        if (figure.hollow) context.stroke();
        else context.fill();
        break;
      case 'cross':
        context.lineWidth = 2.4;
        context.beginPath();
        context.moveTo(figure.x - figure.radius, figure.y - figure.radius);
        context.lineTo(figure.x + figure.radius, figure.y + figure.radius);
        context.moveTo(figure.x - figure.radius, figure.y + figure.radius);
        context.lineTo(figure.x + figure.radius, figure.y - figure.radius);
        context.stroke();
        break;
    }
  }
}

// The two ends of an arrow's head beside its point.
export function headOf(line: { x1: number; y1: number; x2: number; y2: number }): [number, number, number, number] {
  const angle = Math.atan2(line.y2 - line.y1, line.x2 - line.x1);
  const side = (turn: number): [number, number] => [
    line.x2 - 8 * Math.cos(angle + turn),
    line.y2 - 8 * Math.sin(angle + turn),
  ];
  return [...side(0.38), ...side(-0.38)];
}

function line(context: CanvasRenderingContext2D, figure: Figure & { shape: 'line' }): void {
  const { x1, y1, x2, y2 } = figure;
  context.lineWidth = figure.wide ? 2.2 : figure.role.startsWith('kind-') ? 1.3 : 1;
  if (figure.dashed) context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
  if (figure.dashed) context.setLineDash([]);
  if (!figure.arrow) return;
  const [ax, ay, bx, by] = headOf(figure);
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(ax, ay);
  context.lineTo(bx, by);
  context.closePath();
  context.fill();
}
