import { MODEL_ATTEMPTS } from "../../../core/limits.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { inSeconds, tokensText } from "../text/amounts.ts";
import { cutLine } from "../text/fold.ts";
import { visibleWidth } from "../pi/text.ts";
import type { Layout } from "./tool-rows.ts";

/** Milliseconds between two pictures of the spinner. */
export const SPINNER_MS = 100;
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;

const MAX_REASON = 300;

/** A model that is asked again. */
export interface Retry {
  readonly attempt: number;
  readonly reason: string;
  /** When it is asked, as `now` counts. */
  readonly at: number;
}

export interface ShownProgress {
  /** Activity that is shown: `Thinking`. */
  readonly doing: string;
  /** Since the exchange began. */
  readonly ms: number;
  readonly retry: Retry | null;
  readonly tokens: { readonly input_tokens: number; readonly output_tokens: number };
  /** How it is stopped; null if it cannot be. */
  readonly stop: string | null;
}

/** `⠋ Thinking 12 s · Esc interrupts · 3,120 tokens in, 410 out`; what comes later goes first in a narrow terminal. */
export function progressRow(
  progress: ShownProgress,
  now: number,
  { theme, width }: Layout,
): string {
  const { doing, ms, retry, tokens, stop } = progress;
  const picture = SPINNER[Math.floor(now / SPINNER_MS) % SPINNER.length] ?? "";
  const facts = [
    ...(stop === null ? [] : [stop]),
    ...(tokens.input_tokens + tokens.output_tokens > 0 ? [tokensText(tokens)] : []),
  ];
  const said = retry === null ? `${doing} ${inSeconds(ms)}` : retryText(retry, now);
  let text = said;
  for (const fact of facts) {
    const longer = `${text} · ${fact}`;
    text = visibleWidth(longer) <= width - 2 ? longer : text;
  }
  const style = retry === null ? theme.dim : theme.warning;
  return `${theme.accent(picture)} ${style(cutLine(text, Math.max(1, width - 2)))}`;
}

/** `retrying (2 of 3) in 4 s: overloaded` */
function retryText({ attempt, reason, at }: Retry, now: number): string {
  const left = Math.ceil((at - now) / 1000);
  const when = left > 0 ? ` in ${left} s` : "";
  return `retrying (${attempt} of ${MODEL_ATTEMPTS})${when}: ${oneLine(reason.slice(0, MAX_REASON))}`;
}
