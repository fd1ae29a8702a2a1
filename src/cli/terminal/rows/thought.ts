import { visible } from "../../../core/text/terminal-text.ts";
import type { CallLog } from "./call-log.ts";
import { inSeconds } from "../text/amounts.ts";
import { cutLine } from "../text/fold.ts";
import type { Layout } from "./tool-rows.ts";

/** What a model thinks of an answer, until it writes or calls a tool. */
export interface Thought {
  add(message_id: string, piece: string): void;
  isOpen(): boolean;
  /** Ends it; the row that says how long it took, and none if there was no thought. */
  end(layout: Layout): string[];
  /** Forgets one of an answer that comes again. */
  drop(): void;
}

/** What it is about gets a number in the log. */
export function createThought(log: CallLog, now: () => number): Thought {
  let open: { readonly id: string; readonly begunAt: number; text: string } | null = null;
  return {
    add: (id, piece) => {
      if (open?.id !== id) {
        open = { id, begunAt: now(), text: "" };
      }
      open.text += piece;
    },
    isOpen: () => open !== null,
    end: ({ theme, width }) => {
      const ended = open;
      open = null;
      if (ended === null) {
        return [];
      }
      const title = `thought for ${inSeconds(now() - ended.begunAt)}`;
      const text = ended.text.trim();
      if (text === "") {
        return [theme.dim(cutLine(title, width))];
      }
      const n = log.next();
      const lines = (): string[] => visible(text).split("\n");
      log.keep(n, { title, size: text.length, lines });
      return [theme.dim(cutLine(`${title}  [${n}]`, width))];
    },
    drop: () => {
      open = null;
    },
  };
}
