import { cachedShare, type Usage } from "../../core/cost/model-calls.ts";
import { shownCost } from "../../core/cost/money.ts";
import type { PermissionMode } from "../../core/permissions.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import type { Theme } from "./text/theme.ts";

/** State that the status line shows. Texts need not be clean. */
export interface StatusState {
  /** `ready`, `working`. */
  readonly activity: string;
  /** Questions that are open. */
  readonly questions: number;
  /** As a person writes it: `~/code/shop`. Null without one. */
  readonly folder: string | null;
  /** Null for an agent without modes. */
  readonly mode: PermissionMode | null;
  /** False if commands run without a sandbox; null if none can run, or it is not known yet. */
  readonly hasSandbox: boolean | null;
  /** How full the context is, from 0 to 1; null if that is not known. */
  readonly context: number | null;
  /** Usage of the session and its sub-agents; null before it is read. */
  readonly usage: Usage | null;
  readonly persona: string | null;
  readonly model: string | null;
  /** The id of the session, or its name. */
  readonly session: string | null;
  readonly tokens: { readonly input_tokens: number; readonly output_tokens: number } | null;
}

/** Display columns of text without styles: see `CellText`. */
interface Columns {
  width(text: string): number;
  cut(text: string, columns: number): string;
}

interface Shown {
  readonly text: string;
  readonly style: (text: string) => string;
}

const BETWEEN = " · ";
/** A folder with fewer columns says nothing. */
const MIN_FOLDER = 8;
const MAX_TEXT = 200;

/**
 * Draws one row of at most `width` columns. Dangers are always there: the mode `all` and a missing sandbox. The rest
 * is left out from the end.
 */
export function statusRow(
  state: StatusState,
  {
    width,
    theme,
    columns,
  }: { readonly width: number; readonly theme: Theme; readonly columns: Columns },
): string {
  const warnings = warningsOf(state, theme);
  let used = columns.width(warnings.map(({ text }) => text).join(BETWEEN));
  const begin: Shown[] = [];
  const end: Shown[] = [];
  const add = (to: Shown[], { text, style }: Shown, min = Number.POSITIVE_INFINITY): boolean => {
    const gap = used === 0 ? 0 : BETWEEN.length;
    const room = width - used - gap;
    const needed = columns.width(text);
    if (needed > room && room < min) {
      return false;
    }
    const shown = needed <= room ? text : `…${endOf(text, room - 1, columns)}`;
    to.push({ text: shown, style });
    used += gap + columns.width(shown);
    return true;
  };
  const { dim } = theme;
  add(begin, activityOf(state, theme));
  for (const mode of modeOf(state, theme)) {
    add(begin, mode);
  }
  const folder = state.folder === null ? "no folder" : clean(state.folder);
  let isWhole = add(begin, { text: folder, style: dim }, MIN_FOLDER);
  for (const { text } of restOf(state)) {
    isWhole = isWhole && add(end, { text, style: dim });
  }
  const row = [...begin, ...warnings, ...end].map(({ text, style }) => style(text));
  return used > width
    ? theme.warning(columns.cut(warnings.map(({ text }) => text).join(BETWEEN), width))
    : row.join(dim(BETWEEN));
}

function activityOf({ activity, questions }: StatusState, { accent, dim }: Theme): Shown {
  return questions === 0
    ? { text: clean(activity), style: dim }
    : { text: `${questions} question${questions === 1 ? "" : "s"}`, style: accent };
}

/** The mode, which says what happens without a question; `all` is a warning. */
function modeOf({ mode }: StatusState, { accent, dim }: Theme): Shown[] {
  if (mode === null || mode === "all") {
    return [];
  }
  return [mode === "plan" ? { text: "plan", style: accent } : { text: `mode ${mode}`, style: dim }];
}

function warningsOf({ mode, hasSandbox }: StatusState, { warning }: Theme): Shown[] {
  const texts = [
    ...(mode === "all" ? ["mode all"] : []),
    ...(hasSandbox === false ? ["no sandbox"] : []),
  ];
  return texts.map((text) => ({ text, style: warning }));
}

/** Lists what comes after the folder, the most important first. */
function restOf({
  context,
  usage,
  persona,
  model,
  session,
  tokens,
}: StatusState): { readonly text: string }[] {
  return [
    ...(context === null ? [] : [{ text: `${Math.round(context * 100)} % context` }]),
    ...costTexts(usage).map((text) => ({ text })),
    ...[persona, model, session].flatMap((text) => (text === null ? [] : [{ text: clean(text) }])),
    ...(tokens === null
      ? []
      : [{ text: `${short(tokens.input_tokens)} in ${short(tokens.output_tokens)} out` }]),
  ];
}

/** Nothing for what is free or unknown. */
function costTexts(usage: Usage | null): string[] {
  const cost = usage === null || usage.cost_micros === 0 ? null : shownCost(usage);
  const share = usage === null ? null : cachedShare(usage);
  return cost === null
    ? []
    : [cost, ...(share === null || share === 0 ? [] : [`${Math.round(share * 100)} % cached`])];
}

function clean(text: string): string {
  return oneLine(text.slice(0, MAX_TEXT));
}

/** The end of a path says more than its beginning. */
function endOf(text: string, room: number, { width }: Columns): string {
  let end = text;
  while (end !== "" && width(end) > room) {
    end = end.slice(/^[\ud800-\udbff]/.test(end) ? 2 : 1);
  }
  return end;
}

/** `950`, `3.1k`, `1.2M`. */
function short(count: number): string {
  return count < 1000
    ? String(count)
    : count < 1_000_000
      ? `${(Math.floor(count / 100) / 10).toFixed(1)}k`
      : `${(Math.floor(count / 100_000) / 10).toFixed(1)}M`;
}
