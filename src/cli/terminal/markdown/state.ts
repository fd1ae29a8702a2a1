import type { Theme } from "../text/theme.ts";
import type { Code } from "./code.ts";
import type { Highlighter } from "./highlight.ts";
import type { Layout } from "./layout.ts";
import type { Row } from "./runs.ts";
import type { Table } from "./table.ts";

/** The block that is open in the innermost frame. */
export type Leaf =
  | { readonly kind: "none" }
  /** `carry` is the beginning of its next row: the rows before it are final. */
  | { readonly kind: "paragraph"; text: string; carry: Row }
  /** Code by indentation has no sign. */
  | {
      readonly kind: "code";
      readonly sign: string | null;
      readonly indent: number;
      readonly code: Code;
    }
  | { readonly kind: "table"; table: Table; size: number };

/** State after some lines, as data: a copy of it is continued on trial. */
export interface State extends Layout {
  leaf: Leaf;
}

export interface Parsing {
  readonly theme: Theme;
  /** Columns of a row. */
  readonly width: number;
  readonly highlighter: Highlighter;
}

/** A line, or a piece of a long one. */
export interface Line {
  readonly text: string;
  /** The beginning of the line was read before. */
  readonly continues: boolean;
  /** The line ends here. */
  readonly ends: boolean;
}

export function newState(): State {
  const root = { kind: "root", indent: 0, offset: 0, marker: "", isShown: false, ones: 0 } as const;
  return { frames: [{ ...root }], leaf: { kind: "none" }, isBlank: false, last: null };
}

export function copyState({ frames, leaf, ...rest }: State): State {
  return {
    ...rest,
    frames: frames.map((frame) => ({ ...frame })),
    leaf:
      leaf.kind === "code"
        ? { ...leaf, code: { ...leaf.code, held: [...leaf.code.held] } }
        : { ...leaf },
  };
}
