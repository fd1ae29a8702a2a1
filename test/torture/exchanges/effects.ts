import { readFileSync } from "node:fs";

/** One run of an unsafe tool, as it wrote it. */
export interface Effect {
  readonly what: string;
  readonly tool: string;
  readonly node: string;
  readonly at: number;
}

export function readEffects(file: string): readonly Effect[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines
    .filter((line) => line !== "")
    .map((line) => {
      const [what = "", tool = "", node = "", at = ""] = line.split(" ");
      return { what, tool, node, at: Number(at) };
    });
}
