import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";

import type { Finding } from "../../../src/artifacts/finding.ts";
import type { Syntax } from "../../../src/artifacts/sources/read-source.ts";

const FOLDER = new URL("../../fixtures/plans/", import.meta.url);

export interface PlanCase {
  /** The name of the case, with its format as the extension. */
  readonly file: string;
  readonly syntax: Syntax;
  readonly text: string;
  /** Each `severity code line:column pointer`, in order. */
  readonly findings: readonly string[];
}

/** A table of `test/fixtures/plans/`: cases with texts, or with values of one plan. */
interface Table {
  readonly plan?: string;
  readonly cases: readonly {
    readonly name: string;
    readonly format?: "yaml" | "yml";
    readonly text?: string;
    /** Takes the place of `VALUE` in the table's plan. */
    readonly value?: string;
    readonly findings: readonly string[];
  }[];
}

/** Every case of `test/fixtures/plans/`. */
export function readPlanCases(): PlanCase[] {
  return readdirSync(FOLDER).flatMap((file) => {
    const tables: Table[] = parse(readFileSync(new URL(file, FOLDER), "utf8"));
    return tables.flatMap(({ plan = "", cases }) =>
      cases.map(({ name, format, text, value = "", findings }): PlanCase => ({
        file: `${name}.${format ?? "json"}`,
        syntax: format === undefined ? "json" : "yaml",
        text: text ?? fillIn(plan, value),
        findings,
      })),
    );
  });
}

/** Puts a value in the plan; its later lines are indented like its first. */
function fillIn(plan: string, value: string): string {
  const indent = /^( *).*VALUE/m.exec(plan)![1]!;
  return plan.replace("VALUE", () => value.replaceAll("\n", `\n${indent}`));
}

export function planCase(file: string): PlanCase {
  return readPlanCases().find((one) => one.file === file)!;
}

/** Writes the texts of these cases to files of a folder. */
export function writePlanCases(folder: string, ...files: readonly string[]): void {
  for (const file of files) {
    writeFileSync(join(folder, file), planCase(file).text);
  }
}

/** A finding as the cases write it. */
export function lineOf({ severity, code, line, column, pointer }: Finding): string {
  return `${severity} ${code} ${line}:${column} ${pointer}`.trimEnd();
}
