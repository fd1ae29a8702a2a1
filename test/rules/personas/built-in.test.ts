import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { validatePhasePlan } from "../../../src/artifacts/validate-artifact.ts";
import { listPersonas } from "../../../src/rules/personas/list.ts";
import { loadPersona } from "../../../src/rules/personas/load.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";
import { UNTRUSTED } from "../../helpers/trust.ts";

const builtinDir = fileURLToPath(new URL("../../../personas", import.meta.url));
const builtIn = { repoPath: null, userDir: null, builtinDir, trust: UNTRUSTED };

describe("the built-in personas", () => {
  it("are three, and none is broken", async () => {
    const found = await listPersonas(builtIn);
    expect(found.map((entry) => ("fault" in entry ? entry.fault : entry.name))).toEqual([
      "assistant",
      "planner",
      "reviewer",
    ]);
  });

  it("give the reviewer reading tools only, and the assistant all", async () => {
    expect((await loadPersona({ name: "reviewer", ...builtIn })).tools).toEqual(
      [...BUILT_IN_TOOLS].filter(({ effect }) => effect === "reads").map(({ name }) => name),
    );
    expect((await loadPersona({ name: "assistant", ...builtIn })).tools).toBeNull();
  });

  it("show the planner a plan that is valid", async () => {
    const { prompt } = await loadPersona({ name: "planner", ...builtIn });
    const example = /```json\n([^]*?)\n```/.exec(prompt)?.[1] ?? "";
    const roles = new Set((await listPersonas(builtIn)).map(({ name }) => name));
    const report = validatePhasePlan(example, { known: { roles } });
    expect(report).toMatchObject({ valid: true, phases: 2, findings: [] });
  });
});

describe("personas", () => {
  it("do not load the agent's libraries", () => {
    const program = `
      import { registerHooks } from "node:module";
      const seen = [];
      registerHooks({ load: (url, context, next) => { seen.push(url); return next(url, context); } });
      const { loadPersona } = await import("./src/rules/personas/load.ts");
      await loadPersona({ name: "planner", repoPath: null, userDir: null, builtinDir: "personas" });
      console.log(seen.join("\\n"));
    `;
    const root = fileURLToPath(new URL("../../../", import.meta.url));
    const loaded = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      cwd: root,
      encoding: "utf8",
    });
    expect(loaded).toContain("/src/rules/personas/load.ts");
    expect(loaded).toContain("/node_modules/yaml/");
    expect(loaded).not.toMatch(/langchain|deepagents|zod/);
  });
});
