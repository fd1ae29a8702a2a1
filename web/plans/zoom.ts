/** Sizes in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** What of a picture is in view: at which scale, and how far it is scrolled. */
export interface View {
  readonly scale: number;
  readonly scroll: Point;
}

const MAX_SCALE = 4;
const MIN_SCALE = 0.05;

/** The scale at which all of a picture is in a window; a small picture is not made larger. */
export function fitting(picture: Size, window: Size): number {
  const scale = Math.min(window.width / picture.width, window.height / picture.height, 1);
  return Number.isFinite(scale) ? bounded(scale) : 1;
}

/** Changes the scale by a factor, so that what is at `at` of the window stays there. */
export function zoomed({ scale, scroll }: View, factor: number, at: Point): View {
  const next = bounded(scale * factor);
  const grown = next / scale;
  return {
    scale: next,
    scroll: {
      x: Math.max(0, (scroll.x + at.x) * grown - at.x),
      y: Math.max(0, (scroll.y + at.y) * grown - at.y),
    },
  };
}

function bounded(scale: number): number {
  return Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));
}
