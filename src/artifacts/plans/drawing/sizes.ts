export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A phase's box, from its upper left corner; all are `BOX_HEIGHT` high. */
export interface Box extends Point {
  readonly key: string;
  readonly width: number;
}

export const BOX_HEIGHT = 76;
/** Between two columns, where lines bend. */
export const COLUMN_GAP = 72;
/** Between two boxes in a column. */
export const GAP = 18;
