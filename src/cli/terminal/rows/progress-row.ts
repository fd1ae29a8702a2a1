import { MODEL_ATTEMPTS } from "../../../core/limits.ts";
import { oneLine } from "../../../core/text/terminal-text.ts";
import { inSeconds, shortCount } from "../text/amounts.ts";
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

/** `⠋ Thinking 12 s · ↑ 3.1k ↓ 410 · Esc stops`; in a narrow terminal the tokens are left out first. */
export function progressRow(
  progress: ShownProgress,
  now: number,
  { theme, width }: Layout,
): string {
  const { doing, ms, retry, tokens, stop } = progress;
  const picture = SPINNER[Math.floor(now / SPINNER_MS) % SPINNER.length] ?? "";
  const said = retry === null ? `${doing} ${inSeconds(ms)}` : retryText(retry, now);
  const used = tokens.input_tokens + tokens.output_tokens > 0 ? [countsText(tokens)] : [];
  const how = stop === null ? [] : [stop];
  const text =
    [[said, ...used, ...how], [said, ...how], [said]]
      .map((parts) => parts.join(" · "))
      .find((each) => visibleWidth(each) <= width - 2) ?? said;
  const style = retry === null ? theme.dim : theme.warning;
  return `${theme.accent(picture)} ${style(cutLine(text, Math.max(1, width - 2)))}`;
}

/** Tokens that the model read and wrote: `↑ 3.1k ↓ 410`. */
function countsText({ input_tokens, output_tokens }: ShownProgress["tokens"]): string {
  return `↑ ${shortCount(input_tokens)} ↓ ${shortCount(output_tokens)}`;
}

/** `retrying (2 of 3) in 4 s: overloaded` */
function retryText({ attempt, reason, at }: Retry, now: number): string {
  const left = Math.ceil((at - now) / 1000);
  const when = left > 0 ? ` in ${left} s` : "";
  return `retrying (${attempt} of ${MODEL_ATTEMPTS})${when}: ${oneLine(reason.slice(0, MAX_REASON))}`;
}
