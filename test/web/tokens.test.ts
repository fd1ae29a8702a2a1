import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, "utf8");
const tokens = read("web/styles/tokens.css");
const styles = globSync("web/**/*.css", { cwd: root }).toSorted();

/** The two colours of a token, light and dark, as relative luminances (WCAG 2.2). */
function luminancesOf(name: string): readonly number[] {
  const [, ...found] =
    new RegExp(`--${name}: light-dark\\(#(\\w{6}), #(\\w{6})\\)`).exec(tokens) ?? [];
  expect(found, name).toHaveLength(2);
  return found.map((colour) => {
    const [red = 0, green = 0, blue = 0] = [0, 2, 4]
      .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  });
}

/** The lower contrast of both themes. */
function contrast(text: string, ground: string): number {
  const grounds = luminancesOf(ground);
  return Math.min(
    ...luminancesOf(text).map((one, theme) => {
      const [low = 0, high = 0] = [one, grounds[theme] ?? 0].toSorted((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    }),
  );
}

const STATES = ["accent", "running", "warning", "problem", "good"];

it("[PAGE-211] has three steps of text, and colours of states, that are read on each ground, light and dark", () => {
  for (const ground of ["background", "surface", "raised"]) {
    for (const text of ["text", "muted", "faint", ...STATES]) {
      expect(contrast(text, ground), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    }
  }
  for (const state of ["accent", "warning", "problem", "good"]) {
    for (const text of ["text", "muted", "faint", state]) {
      const name = `${text} on ${state}-surface`;
      expect(contrast(text, `${state}-surface`), name).toBeGreaterThanOrEqual(4.5);
    }
  }
  expect(contrast("accent-text", "accent")).toBeGreaterThanOrEqual(4.5);
  expect(contrast("border-strong", "background")).toBeGreaterThanOrEqual(3);
});

it("[PAGE-211] takes sizes, weights and radii from one file", () => {
  const ALLOWED = [
    /^font-size: (var\(--size-1[2-6]\)|var\(--size-20\)|[\d.]+em|max\(1rem, 16px\)|calc\(13px \* var\(--scale\)\))$/,
    /^font-weight: (400|550|600)$/,
    /^border-radius: (0|50%|999px|var\(--radius[-\d]*\)( var\(--radius[-\d]*\)| 0)*)$/,
  ];
  const found = styles.flatMap((file) =>
    (read(file).match(/(?<![-\w])(?:font-size|font-weight|border-radius): [^;]+/g) ?? []).map(
      (rule) => `${file}: ${rule}`,
    ),
  );
  expect(found.length).toBeGreaterThan(50);
  const others = found.filter((each) => {
    const rule = each.slice(each.indexOf(": ") + 2);
    return !ALLOWED.some((allowed) => allowed.test(rule));
  });
  // the size of the page's root, which all tokens are counted in
  expect(others).toEqual(["web/styles/base.css: font-size: 0.9375rem"]);
});
