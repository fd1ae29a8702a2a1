import { cachedShare, type Usage } from "../../core/cost/model-calls.ts";
import { shownCost } from "../../core/cost/money.ts";
import type { PermissionMode } from "../../core/permissions.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { plural } from "../../core/text/text.ts";
import { isDemo } from "../../rules/models/name.ts";
import { shortCount } from "./text/amounts.ts";
import type { Theme } from "./text/theme.ts";

/** State that the status line shows. Texts need not be clean. */
export interface StatusState {
  /** Whether an exchange or a command of the person runs. */
  readonly isWorking: boolean;
  /** Questions that are open. */
  readonly questions: number;
  /** As a person writes it: `~/code/shop`. Null without one. */
  readonly folder: string | null;
  /** The branch that git has checked out there; null if that is not known. */
  readonly branch: string | null;
  /** Null for an agent without modes. */
  readonly mode: PermissionMode | null;
  /** False if commands run without a sandbox; null if none can run, or it is not known yet. */
  readonly hasSandbox: boolean | null;
  /** Tokens of the context, and how many it holds; null if that is not known. */
  readonly context: { readonly tokens: number; readonly window: number } | null;
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
/** Shift-Tab, which sets the next mode. */
const NEXT_MODE = "⇧⇥";
/** A folder with fewer columns says nothing. */
const MIN_FOLDER = 8;
const MAX_TEXT = 200;
const MAX_BRANCH = 40;
/** Persona that answers unless another one is named. */
const USUAL_PERSONA = "assistant";

/**
 * Draws one row of at most `width` columns: `ask ⇧⇥ · ~/shop main · 3 % of 128k · $0.02 · gpt-5.1`. Dangers are always
 * there: the mode `all` and a missing sandbox. The rest is left out from the end.
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
  for (const each of [...modeOf(state, theme), ...activityOf(state, theme)]) {
    add(begin, each);
  }
  let isWhole = add(end, { text: placeOf(state), style: dim }, MIN_FOLDER);
  for (const { text } of restOf(state)) {
    isWhole = isWhole && add(end, { text, style: dim });
  }
  const isAll = state.mode === "all" ? 1 : 0;
  const [mode, sandbox] = [warnings.slice(0, isAll), warnings.slice(isAll)];
  const row = [...mode, ...begin, ...sandbox, ...end].map(({ text, style }) => style(text));
  return used > width
    ? theme.warning(columns.cut(warnings.map(({ text }) => text).join(BETWEEN), width))
    : row.join(dim(BETWEEN));
}

/** A persona, unless it is the one that answers if none is named. */
export function otherPersona(persona: string | null): string | null {
  return persona === USUAL_PERSONA ? null : persona;
}

/** Nothing while the program waits for a message. */
function activityOf({ isWorking, questions }: StatusState, { accent, dim }: Theme): Shown[] {
  return questions > 0
    ? [{ text: plural(questions, "question"), style: accent }]
    : isWorking
      ? [{ text: "working", style: dim }]
      : [];
}

/** The folder, and the branch in it. */
function placeOf({ folder, branch }: StatusState): string {
  const place = folder === null ? "no folder" : clean(folder);
  return branch === null ? place : `${place} ${clean(branch.slice(0, MAX_BRANCH))}`;
}

/** The mode, which says what happens without a question; `all` is a warning. */
function modeOf({ mode }: StatusState, { accent, dim }: Theme): Shown[] {
  if (mode === null || mode === "all") {
    return [];
  }
  return [{ text: `${mode} ${NEXT_MODE}`, style: mode === "plan" ? accent : dim }];
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
    ...(context === null ? [] : [{ text: fullness(context) }]),
    ...costTexts(usage).map((text) => ({ text })),
    ...[model === null ? null : shortModel(model), otherPersona(persona), session].flatMap((text) =>
      text === null ? [] : [{ text: clean(text) }],
    ),
    ...(tokens === null
      ? []
      : [
          { text: `${shortCount(tokens.input_tokens)} in ${shortCount(tokens.output_tokens)} out` },
        ]),
  ];
}

/** `3 % of 128k`. */
function fullness({ tokens, window }: NonNullable<StatusState["context"]>): string {
  return `${Math.round((tokens / window) * 100)} % of ${shortCount(window)}`;
}

/** A model without its provider; the demo keeps it. */
function shortModel(model: string): string {
  return isDemo(model) ? model : model.slice(model.indexOf(":") + 1);
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
