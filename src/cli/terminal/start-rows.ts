import type { PermissionMode } from "../../core/permissions.ts";
import { oneLine } from "../../core/text/terminal-text.ts";
import { modeMeaning } from "../../core/text/words.ts";
import { type Greeting, sessionLine } from "../chat/greeting.ts";
import { otherPersona } from "./status-line.ts";
import type { CellText } from "./pi/cell-text.ts";
import { inHome } from "./text/in-home.ts";
import type { Theme } from "./text/theme.ts";

interface StartOptions {
  readonly width: number;
  readonly text: CellText;
  readonly theme: Theme;
  /** Null for an agent without modes, and while it is not known. */
  readonly mode: PermissionMode | null;
  readonly branch: string | null;
  /** The home folder of the person. */
  readonly home: string | undefined;
}

/** Columns between two facts of a row. */
const GAP = 3;
const MAX_BRANCH = 40;
/** Fits one row in a narrow terminal; all of the id is shown at the end. */
const ID_LENGTH = 8;
const KEYS = "/ commands   @ files   ! shell   ? keys";

/** The rows that a session on the screen begins with: who answers where, what asks, which keys there are. */
export function startRows(greeting: Greeting, options: StartOptions): string[] {
  const { theme, mode } = options;
  const { session, folder, notes } = greeting;
  return [
    ...twoSides(theme.bold(`reprise ${greeting.version}`) + placeOf(greeting, options), {
      right: whoOf(greeting),
      ...options,
    }),
    ...(folder?.isLimited === true ? [folder.sentence] : []),
    ...(session === null
      ? []
      : [sessionLine({ ...session, thread: session.thread.slice(0, ID_LENGTH) })]),
    ...(mode === null || greeting.agent !== null ? [] : modeRows(mode, options)),
    theme.dim(KEYS),
    ...notes,
  ];
}

/** The folder as a person writes it, and the branch. */
function placeOf({ folder }: Greeting, { theme, branch, home }: StartOptions): string {
  if (folder === null || folder.path === null) {
    return "";
  }
  const place = `${" ".repeat(GAP)}${oneLine(inHome(folder.path, home))}`;
  return branch === null
    ? place
    : `${place} ${theme.dim(`(${oneLine(branch.slice(0, MAX_BRANCH))})`)}`;
}

function whoOf({ agent, persona, model }: Greeting): string {
  return oneLine(
    agent ?? [otherPersona(persona), model].filter((each) => each !== null).join(" · "),
  );
}

function modeRows(mode: PermissionMode, options: StartOptions): string[] {
  const { theme, width, text } = options;
  const meaning = `${mode}: ${modeMeaning(mode)}`;
  const key = "Shift-Tab changes this";
  const fits = text.width(meaning) + GAP + key.length <= width;
  const left = mode === "all" ? theme.warning(meaning) : meaning;
  return fits ? twoSides(left, { right: theme.dim(key), ...options }) : [left];
}

/** Draws one row with a text at its right edge, or two rows if it does not fit. */
function twoSides(
  left: string,
  { right, width, text }: { readonly right: string } & Pick<StartOptions, "width" | "text">,
): string[] {
  const free = width - text.width(left) - text.width(right);
  return right === "" ? [left] : free < GAP ? [left, right] : [left + " ".repeat(free) + right];
}
