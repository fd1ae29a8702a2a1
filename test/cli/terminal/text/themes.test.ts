import { expect, it } from "vitest";

import {
  BACKGROUND_QUERY,
  createTheme,
  parseBackground,
  type Rgb,
  RICH,
} from "../../../../src/cli/terminal/text/themes.ts";

const BLACK = { r: 0, g: 0, b: 0 };
const WHITE = { r: 255, g: 255, b: 255 };

it.each([
  [{ NO_COLOR: "1" }, "auto", "none"],
  [{ NO_COLOR: "" }, "auto", "dark"],
  [{ NO_COLOR: "1", FORCE_COLOR: "1" }, "auto", "dark"],
  [{ NO_COLOR: "1", CLICOLOR_FORCE: "1" }, "auto", "none"],
  [{ NO_COLOR: "1" }, "light", "light"],
  [{ FORCE_COLOR: "0" }, "auto", "none"],
  [{ FORCE_COLOR: "" }, "auto", "dark"],
  [{ CLICOLOR: "0" }, "auto", "none"],
  [{ CLICOLOR: "0", CLICOLOR_FORCE: "1" }, "auto", "dark"],
  [{ TERM: "dumb", FORCE_COLOR: "3" }, "dark", "none"],
  [{ FORCE_COLOR: "3" }, "none", "none"],
  [{ COLORFGBG: "0;15" }, "auto", "light"],
  [{ COLORFGBG: "15;default;0" }, "auto", "dark"],
  [{ COLORFGBG: "0;15" }, "dark", "dark"],
] as const)("[TERM-25] with %j and the setting %s, the theme is %s", (env, setting, name) => {
  expect(createTheme({ env: { TERM: "xterm", ...env }, setting }).name).toBe(name);
});

it("[TERM-25] the terminal's answer decides between dark and light", () => {
  expect(createTheme({ env: { COLORFGBG: "15;0" }, background: WHITE }).name).toBe("light");
  expect(createTheme({ env: { COLORFGBG: "0;15" }, background: BLACK }).name).toBe("dark");
});

it.each([
  [{ TERM: "xterm" }, "\u001b[96mx\u001b[39m"],
  [{ TERM: "xterm-256color" }, "\u001b[38;5;80mx\u001b[39m"],
  [{ TERM: "xterm", COLORTERM: "truecolor" }, "\u001b[38;2;108;197;232mx\u001b[39m"],
  [{ TERM: "xterm", COLORTERM: "truecolor", FORCE_COLOR: "1" }, "\u001b[96mx\u001b[39m"],
])(
  "[TERM-25] with %j a known background has the colours that the terminal can show",
  (env, shown) => {
    expect(createTheme({ env, background: BLACK }).accent("x")).toBe(shown);
  },
);

it("[TERM-25] an unknown background has the terminal's own colours", () => {
  const theme = createTheme({ env: { TERM: "xterm-256color", COLORTERM: "truecolor" } });
  expect(theme.accent("x")).toBe("\u001b[36mx\u001b[39m");
});

it.each([
  ["dark", "#2e2e2e"],
  ["dark", "#000000"],
  ["light", "#eee8d5"],
  ["light", "#ffffff"],
] as const)("[TERM-25] colours of the theme %s can be read on %s", (name, background) => {
  for (const colour of Object.values(RICH[name])) {
    expect(contrast(colour, background)).toBeGreaterThanOrEqual(4.5);
  }
});

it("[TERM-26] without styles there is no sequence at all, and nothing is done to an empty text", () => {
  const { name: _none, ...none } = createTheme({ env: { NO_COLOR: "1" } });
  const { name: _dark, ...dark } = createTheme({ env: { TERM: "xterm" } });
  for (const [key, style] of Object.entries(none)) {
    expect(style("text", "https://a.b")).toBe("text");
    expect(Reflect.get(dark, key)).toBeInstanceOf(Function);
  }
  for (const style of Object.values(dark)) {
    expect(style("", "https://a.b")).toBe("");
  }
});

it.each([
  ["https://a.b/c", true],
  ["file:///a", true],
  ["javascript:alert(1)", false],
  ["https://a.b/\u001b\\", false],
  ["https://a.b/ü", false],
  [`https://a.b/${"c".repeat(2000)}`, false],
])("[TERM-21] a link to %j is one for the terminal: %s", (url, isLink) => {
  const shown = createTheme({ env: { TERM: "xterm" } }).link("text", url);
  expect(shown).toBe(isLink ? `\u001b]8;;${url}\u001b\\text\u001b]8;;\u001b\\` : "text");
});

it.each([
  [{ TERM: "linux" }, false],
  [{ TERM: "screen-256color" }, false],
  [{ TERM: "screen-256color", TMUX: "/tmp/x" }, true],
  [{ TERM: "xterm", VTE_VERSION: "4601" }, false],
  [{ TERM: "xterm", VTE_VERSION: "7600" }, true],
])("[TERM-21] with %j links are used: %s", (env, isUsed) => {
  expect(createTheme({ env }).link("a", "https://a.b") !== "a").toBe(isUsed);
});

it.each<[string, Rgb | null]>([
  ["\u001b]11;rgb:ffff/8080/0000\u001b\\", { r: 255, g: 128, b: 0 }],
  ["\u001b]11;rgb:ff/80/00\u0007", { r: 255, g: 128, b: 0 }],
  ["\u001b]11;rgba:f/0/0/ffff\u0007", { r: 255, g: 0, b: 0 }],
  ["\u001b]11;#ff8000\u0007", { r: 255, g: 128, b: 0 }],
  ["\u001b]11;#ffff80800000\u0007", { r: 255, g: 128, b: 0 }],
  ["\u001b]11;rgb:ff/80\u0007", null],
  ["\u001b]11;rgb:fffff/80/00\u0007", null],
  ["\u001b]11;rgb://\u0007", null],
  ["\u001b]11;#ff80\u0007", null],
  ["\u001b]11;?\u0007", null],
  ["\u001b]10;rgb:ff/80/00\u0007", null],
  ["x\u001b]11;rgb:ff/80/00\u0007", null],
  ["\u001b]11;rgb:ff/80/00", null],
])("[TERM-25] the terminal's answer %j is %j", (data, background) => {
  expect(parseBackground(data)).toEqual(background);
  expect(parseBackground(BACKGROUND_QUERY)).toBeNull();
});

/** As WCAG 2 defines it. */
function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
