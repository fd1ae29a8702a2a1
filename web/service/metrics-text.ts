/** One line of Prometheus' text format. */
export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: -?\d+)?$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/g;

/** Reads Prometheus' text format 0.0.4. Other lines are left out, and values that are not finite numbers. */
export function readMetricsText(text: string): Series[] {
  return text.split("\n").flatMap((line) => {
    const [, name, labels = "", number = ""] = LINE.exec(line.trimEnd()) ?? [];
    const value = Number(number);
    return name === undefined || number === "" || !Number.isFinite(value)
      ? []
      : [{ name, labels: labelsOf(labels), value }];
  });
}

function labelsOf(text: string): Record<string, string> {
  const labels = [...text.matchAll(LABEL)].map(([, name = "", value = ""]) => [
    name,
    value.replaceAll(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter)),
  ]);
  return Object.fromEntries(labels) as Record<string, string>;
}
