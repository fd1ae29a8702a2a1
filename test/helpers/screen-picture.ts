import { RICH } from "../../src/cli/terminal/text/themes.ts";
import type { ScreenRun } from "./screen.ts";

/** One state of a screen. */
export interface Frame {
  readonly rows: readonly (readonly ScreenRun[])[];
  /** How long it is shown. */
  readonly seconds: number;
}

export interface PictureOptions {
  readonly title: string;
  /** What the picture shows, for those who do not see it. */
  readonly description: string;
  readonly columns: number;
}

/** In pixels. `textLength` fits each run of text into its cells, whichever font the reader has. */
const CELL = { width: 8.4, height: 18, size: 14, baseline: 13 };
const EDGE = 14;

/**
 * An SVG picture that shows the frames one after the other, again and again. It loads nothing and follows the reader's
 * light or dark mode. Readers who want no movement see the last frame.
 */
export function pictureOf(
  frames: readonly Frame[],
  { title, description, columns }: PictureOptions,
): string {
  const rows = Math.max(...frames.map((frame) => frame.rows.length));
  const width = Math.ceil(columns * CELL.width) + 2 * EDGE;
  const height = rows * CELL.height + 2 * EDGE;
  const groups = frames.map(
    (frame, index) => `<g class="frame" id="f${index + 1}">\n${drawn(frame.rows)}</g>\n`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<style>
${styleOf(frames)}</style>
<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${groups.join("")}</svg>
`;
}

function styleOf(frames: readonly Frame[]): string {
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  let begin = 0;
  const steps = frames.map(({ seconds }, index) => {
    const from = begin / total;
    begin += seconds;
    const shown = `${percent(from)}{visibility:visible}${percent(begin / total)}`;
    const last = index === frames.length - 1;
    // both ends are written for each frame: without them the browser takes those of `.frame`
    const before = index === 0 ? "" : "0%{visibility:hidden}";
    const after = last ? "{visibility:visible}" : "{visibility:hidden}100%{visibility:hidden}";
    return `@keyframes k${index + 1}{${before}${shown}${after}}\n#f${index + 1}{animation:k${index + 1} ${total}s step-end infinite}\n`;
  });
  return `${colours("dark")}
text{font:${CELL.size}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:var(--text)}
.window{fill:var(--back);stroke:var(--edge)}
.bold{font-weight:bold}
.dim{fill-opacity:.7}
.italic{font-style:italic}
${Object.keys(RICH.dark)
  .map((name) => `.${name}{fill:var(--${name})}`)
  .join("\n")}
.back{fill:var(--text)}
.inverse{fill:var(--back)}
.frame{visibility:hidden}
.frame:last-of-type{visibility:visible}
@media (prefers-color-scheme:light){${colours("light")}}
@media (prefers-reduced-motion:no-preference){
${steps.join("")}}
`;
}

function colours(theme: "dark" | "light"): string {
  const base =
    theme === "dark"
      ? { text: "#d8dee4", back: "#16191d", edge: "#3a4048" }
      : { text: "#24292f", back: "#fbfbfa", edge: "#d0d7de" };
  const all = Object.entries({ ...base, ...RICH[theme] });
  return `svg{${all.map(([name, colour]) => `--${name}:${colour}`).join(";")}}`;
}

function percent(part: number): string {
  return `${Number((part * 100).toFixed(2))}%`;
}

function drawn(rows: readonly (readonly ScreenRun[])[]): string {
  return rows
    .flatMap((runs, row) => runs.map((run) => drawnRun(run, EDGE + row * CELL.height)))
    .join("");
}

function drawnRun(run: ScreenRun, y: number): string {
  const at = (column: number): string => String(Number((EDGE + column * CELL.width).toFixed(1)));
  const length = (columns: number): string => String(Number((columns * CELL.width).toFixed(1)));
  if (run.inverse) {
    const block = `<rect class="back" x="${at(run.column)}" y="${y}" width="${length(run.columns)}" height="${CELL.height}"/>\n`;
    return block + textOf(run, y, at, length);
  }
  return textOf(run, y, at, length);
}

function textOf(
  run: ScreenRun,
  y: number,
  at: (column: number) => string,
  length: (columns: number) => string,
): string {
  const text = run.text.trimEnd();
  if (text === "") {
    return "";
  }
  const skipped = text.length - text.trimStart().length;
  const cells = run.columns - (run.text.length - text.length) - skipped;
  const classes = classesOf(run);
  const style = classes === "" ? "" : ` class="${classes}"`;
  return `<text x="${at(run.column + skipped)}" y="${y + CELL.baseline}" textLength="${length(cells)}"${style}>${escaped(text.trimStart())}</text>\n`;
}

function classesOf({ colour, bold, dim, italic, inverse }: ScreenRun): string {
  const name = colour === null ? undefined : nameOf(colour);
  return [
    name,
    bold ? "bold" : undefined,
    dim ? "dim" : undefined,
    italic ? "italic" : undefined,
    inverse ? "inverse" : undefined,
  ]
    .filter((each) => each !== undefined)
    .join(" ");
}

/** The theme's name of a colour: the picture has both of its themes. */
function nameOf(colour: string): string {
  const [name] = Object.entries(RICH.dark).find(([, shade]) => shade === colour) ?? [];
  if (name === undefined) {
    throw new Error(`${colour} is no colour of the dark theme`);
  }
  return name;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
