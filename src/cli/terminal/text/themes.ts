import type { ThemeSetting } from "../../../rules/config/user-config.ts";
import type { Theme } from "./theme.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Each channel from 0 to 255. */
export interface Rgb {
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

/** Asks a terminal for its background. One that does not know the question is silent. */
export const BACKGROUND_QUERY = "\u001b]11;?\u001b\\";

type Name = "accent" | "code" | "success" | "warning" | "error" | "added" | "removed";
type Palette = Readonly<Record<Name, string>>;

/** The terminal's own first 16 colours: users choose them to fit their background. */
const BASIC: Readonly<Record<"any" | "dark" | "light", Palette>> = {
  any: shades("36 35 32 33 31 32 31"),
  dark: shades("96 95 92 93 91 92 91"),
  light: shades("34 35 32 35 31 32 31"),
};
/** Each has a contrast of 4.5 at least: of dark with #2e2e2e and darker, of light with #eee8d5 and lighter. */
export const RICH: Readonly<Record<"dark" | "light", Palette>> = {
  dark: shades("#6cc5e8 #d9a0e0 #8fcf72 #e5b567 #ff8f87 #8fcf72 #ff8f87"),
  light: shades("#1f5f8b #7a3e9d #2f6b1f #7d5200 #b3261e #2f6b1f #b3261e"),
};

function shades(list: string): Palette {
  const [accent = "", code = "", success = "", warning = "", error = "", added = "", removed = ""] =
    list.split(" ");
  return { accent, code, success, warning, error, added, removed };
}

/**
 * The theme for a terminal. A setting is stronger than the environment, of which `FORCE_COLOR` is stronger than
 * `NO_COLOR`, and that than `CLICOLOR`. Colours for a dark or light background are used only if it is known: by the
 * setting, the terminal's answer or `COLORFGBG`. Else they are the terminal's own.
 */
export function createTheme({
  env,
  setting = "auto",
  background = null,
}: {
  readonly env: Env;
  readonly setting?: ThemeSetting;
  /** Background that the terminal answered; null if it did not. */
  readonly background?: Rgb | null;
}): Theme {
  const depth = depthOf(env, setting);
  if (depth === null) {
    return PLAIN;
  }
  const known = setting === "dark" || setting === "light" ? setting : backgroundOf(env, background);
  const palette = depth === 16 || known === null ? BASIC[known ?? "any"] : RICH[known];
  const colour = (name: Name): Style => {
    const shade = palette[name];
    return styled(shade.startsWith("#") ? sequenceOf(shade, depth) : shade, "39");
  };
  return {
    name: known ?? "dark",
    bold: styled("1", "22"),
    italic: styled("3", "23"),
    dim: styled("2", "22"),
    selected: styled("7", "27"),
    accent: colour("accent"),
    code: colour("code"),
    success: colour("success"),
    warning: colour("warning"),
    error: colour("error"),
    added: colour("added"),
    removed: colour("removed"),
    link: knowsLinks(env) ? link : same,
  };
}

type Style = (text: string) => string;

const same: Style = (text) => text;

const PLAIN: Theme = {
  name: "none",
  bold: same,
  italic: same,
  dim: same,
  selected: same,
  accent: same,
  code: same,
  success: same,
  warning: same,
  error: same,
  added: same,
  removed: same,
  link: same,
};

function styled(on: string, off: string): Style {
  return (text) => (text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`);
}

type Depth = 16 | 256 | "full";

/** How many colours the terminal has; null for none. */
function depthOf(env: Env, setting: ThemeSetting): Depth | null {
  const { TERM: term = "", FORCE_COLOR: force } = env;
  if (setting === "none" || term === "dumb") {
    return null;
  }
  if (setting === "auto" && !wantsColours(env)) {
    return null;
  }
  const full = /^(truecolor|24bit)$/i.test(env["COLORTERM"] ?? "") || term.endsWith("-direct");
  if (force === "3" || (full && force !== "1" && force !== "2")) {
    return "full";
  }
  return force === "2" || (term.includes("256color") && force !== "1") ? 256 : 16;
}

function wantsColours(env: Env): boolean {
  const { FORCE_COLOR: force, CLICOLOR_FORCE: forced = "0" } = env;
  if (force !== undefined) {
    return force !== "0" && force !== "false";
  }
  if ((env["NO_COLOR"] ?? "") !== "") {
    return false;
  }
  return env["CLICOLOR"] !== "0" || forced !== "0";
}

/** The terminal's answer, else the last number of `COLORFGBG`, as in `15;0`. */
function backgroundOf(env: Env, answer: Rgb | null): "dark" | "light" | null {
  if (answer !== null) {
    return 0.2126 * answer.r + 0.7152 * answer.g + 0.0722 * answer.b < 128 ? "dark" : "light";
  }
  const [, number] = /;(\d{1,2})$/.exec(env["COLORFGBG"] ?? "") ?? [];
  return number === undefined ? null : number === "7" || number === "15" ? "light" : "dark";
}

/** The nearest of the cube's 216 colours for a terminal with 256. */
function sequenceOf(hex: string, depth: Depth): string {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  if (depth === "full") {
    return `38;2;${channels.join(";")}`;
  }
  const [r = 0, g = 0, b = 0] = channels.map((channel) =>
    channel < 48 ? 0 : channel < 115 ? 1 : Math.round((channel - 55) / 40),
  );
  return `38;5;${16 + 36 * r + 6 * g + b}`;
}

const MAX_URL = 2000;

function link(text: string, url: string): string {
  const isSafe = url.length <= MAX_URL && /^(https?|file):\/\/[!-~]+$/i.test(url);
  return isSafe && text !== "" ? `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\` : text;
}

/**
 * A terminal ignores a sequence that it does not know, but these show it. Addresses that differ from
 * their text are shown beside it in any case.
 */
function knowsLinks({ TERM: term = "", TMUX: tmux, VTE_VERSION: vte }: Env): boolean {
  const isScreen = term.startsWith("screen") && tmux === undefined;
  return term !== "linux" && !isScreen && !(vte !== undefined && Number(vte) < 5000);
}

/** The terminal's answer to the question for its background; null for anything else. */
export function parseBackground(data: string): Rgb | null {
  // oxlint-disable-next-line no-control-regex -- it is a sequence of the terminal
  const [, value = ""] = /^\u001b\]11;([^\u0007\u001b]{1,64})(?:\u0007|\u001b\\)$/.exec(data) ?? [];
  const parts = /^rgba?:([\da-f/]+)$/i.exec(value)?.[1]?.split("/") ?? thirds(value);
  const [r, g, b] = parts.map(channelOf);
  return r === undefined || g === undefined || b === undefined || parts.length > 4
    ? null
    : [r, g, b].some(Number.isNaN)
      ? null
      : { r, g, b };
}

/** The parts of `#rrggbb` and `#rrrrggggbbbb`. */
function thirds(value: string): string[] {
  const digits = /^#((?:[\da-f]{3}){2,4})$/i.exec(value)?.[1] ?? "";
  const size = digits.length / 3;
  return size === 0 ? [] : [0, 1, 2].map((at) => digits.slice(at * size, (at + 1) * size));
}

/** Reads one to four hexadecimal digits, of which `f`, `ff`, `fff` and `ffff` are the most. */
function channelOf(digits: string): number {
  return /^[\da-f]{1,4}$/i.test(digits)
    ? Math.round((Number.parseInt(digits, 16) / (16 ** digits.length - 1)) * 255)
    : Number.NaN;
}
