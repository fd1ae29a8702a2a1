import fc from "fast-check";
import { expect, it } from "vitest";

import { drawSvg } from "../../../../src/artifacts/plans/drawing/svg.ts";
import { importPlan } from "../../../../src/artifacts/plans/import/import-plan.ts";
import { phaseGraph } from "../../../../src/artifacts/plans/phase-graph.ts";
import { validatePlan } from "../../../../src/artifacts/plans/validate-plan.ts";
import { KNOWN, planSchema } from "../../../helpers/artifacts/plans.ts";
import { planOf, REAL_PLANS, textOf } from "../../../helpers/artifacts/real-plans.ts";

/** Waves of each plan, read and found right by a person. */
const WAVES: Readonly<Record<string, string>> = {
  "spec-kit-mcp-server.md":
    "t001 > t002 > t003 > t004 > t005 > t006 > checkpoint-t006 > t007+t008+t009 > t010 > t011 > t012 > t013 > t014 > t015 > t016 > checkpoint-t016 > t017+t018 > t019 > t020 > t021 > checkpoint-t021 > t022 > t023 > t024",
  "kiro-github-actions-ci.md":
    "task-7-3 > task-8-1 > task-8-2 > task-9-1 > task-9-2 > task-9-3 > task-10-1 > task-10-2 > task-10-3",
  "taskmaster-refactoring.json":
    "task-1+task-13+task-15+task-2+task-3+task-4+task-6+task-7+task-9 > task-12+task-5+task-8 > task-10 > task-11+task-14",
  "spec-kit-mock-auth.md":
    "t001 > t002+t003 > t004 > t005 > checkpoint-t005 > t006 > t007 > t008 > checkpoint-t008 > t009 > t010 > t011 > t012 > checkpoint-t012 > t013 > t014 > checkpoint-t014 > t015 > t016 > checkpoint-t016 > t017 > t018 > checkpoint-t018 > t019 > t020 > t021 > checkpoint-t021 > t022+t023+t024 > t025",
  "kiro-parity-program.md":
    "task-1-1 > task-1-2 > task-2-1 > task-2-2 > task-2-3 > task-2-4 > task-3-1 > task-3-2",
  "taskmaster-keyproxy.json": "task-13",
  "spec-kit-vpn-off.md":
    "t001 > t002 > t003 > checkpoint-t003 > t004 > t005 > t006 > t007 > t008+t009+t010+t011 > checkpoint-t011 > t012 > t013 > t014+t015 > checkpoint-t015 > t016 > t017 > t018+t019 > checkpoint-t019 > t020+t021+t022+t023+t024+t025 > checkpoint-t025",
  "taskmaster-prophy.json":
    "task-11+task-12+task-4+task-6 > task-10+task-13+task-14+task-16+task-20+task-5+task-7+task-8+task-9 > task-15+task-17+task-18+task-19 > task-21+task-23+task-24 > task-22 > task-25",
  "spec-kit-timeout.md":
    "t001 > t002 > t003 > t004 > t005 > checkpoint-t005 > t006 > t007 > t008 > t009 > checkpoint-t009 > t010 > t011 > t012 > t013 > t014 > t015 > t016 > t017 > t018 > t019 > t020 > checkpoint-t020 > t021 > t022 > t023 > t024 > t025 > checkpoint-t025 > t026+t027+t028 > t029 > t030",
  "taskmaster-skill-porter.json":
    "task-1 > task-2+task-3 > task-4 > task-5 > task-6+task-9 > task-7 > task-8 > task-10",
  "taskmaster-tursi.json": "task-1+task-10+task-2+task-3+task-4+task-5+task-6+task-7+task-8+task-9",
  "kiro-watch-logs.md":
    "task-1-1 > task-1-2 > task-2-1 > task-2-2 > task-2-3 > task-3-1 > task-3-2 > task-4-1 > task-4-2",
};

const schema = planSchema();

it.each(REAL_PLANS)(
  "[PLANRUN-60] the plan of $file is valid, and its picture has all phases",
  (real) => {
    const plan = planOf(real);
    const text = JSON.stringify(plan);
    expect(validatePlan(text, { syntax: "json", schema, known: KNOWN }).findings).toEqual([]);
    const { waves } = phaseGraph(plan);
    expect(waves.map((keys) => keys.join("+")).join(" > ")).toBe(WAVES[real.file]);
    const picture = drawSvg(plan);
    expect(plan.phases.filter(({ key }) => !picture.includes(key))).toEqual([]);
  },
);

it("[PLANRUN-64] a huge file is refused or gives a plan of its size", () => {
  const long = (line: string, count: number) => line.repeat(count);
  const chain = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      JSON.stringify({ id: at, title: "x", dependencies: [at + 1] }),
    ).join(",");
  const files = [
    ["spec-kit", `- [ ] T1 depends on ${long("T1-T999, ", 200_000)}`],
    ["spec-kit", long("- [ ] T1 x\n**Checkpoint**: y\n", 60_000)],
    ["spec-kit", `- [ ] T1 x\n**Checkpoint**: y\n${long("z\n", 900_000)}`],
    ["spec-kit", long("<!-- \n", 300_000)],
    ["kiro", `- [ ] 1. x\n${long("  - y\n", 300_000)}`],
    ["kiro", `- [ ] 1. x\n${long("  - y\n", 15_000)}- [ ] 1.1 z\n`],
    ["kiro", long("```\n", 400_000)],
    ["taskmaster", `{"tasks": [${long('{"id": 1, "title": "x"},', 60_000)}{}]}`],
    ["taskmaster", `{"tasks": [{"id": 1, "title": "x", "subtasks": [${chain(30_000)}]}]}`],
  ] as const;
  for (const [format, text] of files) {
    const runId = crypto.randomUUID();
    const { plan } = importPlan(text, { format, role: "assistant", runId, documents: [] });
    expect(JSON.stringify(plan).length).toBeLessThan(text.length + 10_000);
  }
});

it("[PLANRUN-64] a real plan whose lines were mixed, cut or joined gives a valid plan or says what is wrong, whatever the format", () => {
  const texts = REAL_PLANS.map((real) => textOf(real).split("\n"));
  const changes = fc.array(fc.record({ at: fc.nat(), to: fc.nat(), kind: fc.nat(3) }), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(
      fc.nat(REAL_PLANS.length - 1),
      fc.constantFrom("spec-kit", "kiro", "taskmaster"),
      changes,
      (which, format, each) => {
        const lines = [...(texts[which] ?? [])];
        for (const { at, to, kind } of each) {
          const line = lines[at % lines.length] ?? "";
          const place = to % lines.length;
          if (kind === 0) {
            lines.splice(place, 1);
          } else if (kind === 1) {
            lines.splice(place, 0, line);
          } else {
            lines[place] = kind === 2 ? line.slice(0, to % 40) : `${lines[place] ?? ""}${line}`;
          }
        }
        const text = lines.join("\n");
        const runId = crypto.randomUUID();
        const read = importPlan(text, { format, role: "assistant", runId, documents: [] });
        if (read.plan === null) {
          expect(read.problems.length).toBeGreaterThan(0);
          const count = text.split("\n").length;
          expect(read.problems.filter(({ line }) => line < 1 || line > count)).toEqual([]);
        } else {
          const report = validatePlan(JSON.stringify(read.plan), { syntax: "json", schema });
          expect(report.valid).toBe(true);
        }
      },
    ),
    { numRuns: 300 },
  );
});
