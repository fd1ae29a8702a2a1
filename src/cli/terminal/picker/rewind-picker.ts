import { oneLine } from "../../../core/text/terminal-text.ts";
import { age } from "../../output/ages.ts";
import {
  type ListedMessage,
  type PickedRewind,
  REWIND_CHOICES,
  type RewindPlan,
  type RewindSource,
} from "../../output/rewind-choices.ts";
import { decodePrintableKey, matchesKey } from "../pi/keys.ts";
import { visibleWidth, wrapTextWithAnsi } from "../pi/text.ts";
import type { FullView } from "../screen/screen.ts";
import { cell, cut, spread } from "../text/fit.ts";
import type { Theme } from "../text/theme.ts";
import { isLeaving, moveOf } from "./picker-keys.ts";

export interface RewindPickerOptions {
  readonly theme: Theme;
  readonly source: RewindSource;
  readonly now: () => number;
  readonly on: { changed(): void; done(picked: PickedRewind | null): void };
}

type Mode =
  | { readonly kind: "list" }
  | { readonly kind: "busy" }
  | { readonly kind: "ask"; readonly plan: RewindPlan };

const LIST_KEYS = "Enter go back to before it  Esc leave";
const SHORT_KEYS = "Enter go back  Esc leave";

/** Chooses a message to go back to, then what is done about what came after it. */
export function createRewindPicker({ theme, source, now, on }: RewindPickerOptions): FullView {
  const { messages, more } = source;
  let mode: Mode = source.chosen === null ? { kind: "list" } : { kind: "ask", plan: source.chosen };
  let selected = 0;
  let notice = "";
  let page = 1;
  /** The first row of the plan that is shown, and how many there are beyond one page. */
  let top = 0;
  let beyond = 0;
  /** True once the choices are on the screen: keys that came before choose nothing. */
  let isDrawn = false;

  const show = (next: Mode): void => {
    mode = next;
    isDrawn = false;
    top = 0;
    on.changed();
  };
  const choose = async ({ seq }: ListedMessage): Promise<void> => {
    show({ kind: "busy" });
    try {
      const plan = await source.plan(seq);
      if (plan.lines.length === 0) {
        on.done({ plan, choice: "fork" });
      } else {
        show({ kind: "ask", plan });
      }
    } catch (error) {
      notice = error instanceof Error ? error.message : String(error);
      show({ kind: "list" });
    }
  };
  const inList = (key: string): void => {
    notice = "";
    const move = moveOf(key, page);
    const message = messages[selected];
    if (move !== null) {
      selected = Math.max(0, Math.min(selected + move, messages.length - 1));
    } else if (matchesKey(key, "enter") && isDrawn && message !== undefined) {
      void choose(message);
    } else if (isLeaving(key)) {
      on.done(null);
    }
  };
  const inQuestion = (key: string, plan: RewindPlan): void => {
    const move = moveOf(key, page);
    const letter = (decodePrintableKey(key) ?? key).toLowerCase();
    const choice = REWIND_CHOICES.find((each) => each.key === letter);
    if (move !== null) {
      top = Math.max(0, Math.min(top + move, beyond));
    } else if (isLeaving(key) || (isDrawn && letter === "n")) {
      on.done(null);
    } else if (isDrawn && choice !== undefined) {
      on.done({ plan, choice: choice.id });
    }
  };
  const listRows = (width: number, height: number): string[] => {
    const count = `${selected + 1} of ${messages.length}${more ? "+" : ""}`;
    const last = notice === "" ? [] : wrapTextWithAnsi(notice, width).map(theme.warning);
    const keys = width < visibleWidth(LIST_KEYS) ? SHORT_KEYS : LIST_KEYS;
    page = Math.max(1, height - 2 - last.length);
    const first = Math.max(
      0,
      Math.min(selected - Math.floor(page / 2), Math.max(0, messages.length - page)),
    );
    const digits = String(messages[0]?.seq ?? 0).length;
    const rows = messages.slice(first, first + page).map((message, index) => {
      const row = messageRow(message, { width: width - 2, digits, now: now() });
      return first + index === selected ? theme.selected(`> ${row}`) : `  ${row}`;
    });
    return [
      spread(theme.bold("Go back to before a message"), theme.dim(count), width),
      ...filled(rows, page),
      ...last,
      theme.dim(keys),
    ];
  };
  const questionRows = (
    { message, lines }: RewindPlan,
    width: number,
    height: number,
  ): string[] => {
    const choices = [
      theme.dim("─".repeat(width)),
      ...REWIND_CHOICES.map(({ key, text }) => `${theme.accent(key)}  ${text}`),
      `${theme.accent("n")}  neither (Esc)`,
    ].flatMap((row) => wrapTextWithAnsi(row, width));
    const rows = lines.flatMap((line) => wrapTextWithAnsi(line.replaceAll("\t", "    "), width));
    page = Math.max(1, height - 1 - choices.length);
    beyond = Math.max(0, rows.length - page);
    top = Math.min(top, beyond);
    const shown = rows.slice(top, top + page);
    const where = beyond === 0 ? "" : `↑↓ ${top + shown.length} of ${rows.length} rows`;
    return [
      spread(theme.bold(`Back to before message ${message.seq}`), theme.dim(where), width),
      ...filled(shown, page),
      ...choices,
    ];
  };
  return {
    rows: (width, height) => {
      isDrawn = true;
      const rows =
        mode.kind === "list"
          ? listRows(width, height)
          : mode.kind === "busy"
            ? [theme.dim("Reading what came after it…")]
            : questionRows(mode.plan, width, height);
      return rows.slice(-height).map((row) => cut(row, width));
    },
    key: (key) => {
      if (mode.kind === "list") {
        inList(key);
      } else if (mode.kind === "ask") {
        inQuestion(key, mode.plan);
      } else if (matchesKey(key, "ctrl+c")) {
        on.done(null);
      }
      on.changed();
    },
  };
}

function messageRow(
  { seq, ts, text }: ListedMessage,
  { width, digits, now }: { readonly width: number; readonly digits: number; readonly now: number },
): string {
  const right = age(now - Date.parse(ts)).padStart(10);
  const left = `${String(seq).padStart(digits)}  `;
  const isWide = width >= 44;
  const columns = width - left.length - (isWide ? right.length + 2 : 0);
  return `${left}${cell(oneLine(text), Math.max(1, columns))}${isWide ? `  ${right}` : ""}`;
}

function filled(rows: readonly string[], height: number): string[] {
  return Array.from({ length: height }, (_, index) => rows[index] ?? "");
}
