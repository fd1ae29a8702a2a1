import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { parse, type ParseError } from "jsonc-parser";
import { describe, expect, it } from "vitest";

import { HOOK_EVENTS, type HookTexts } from "../../../src/rules/hooks/hook.ts";
import { calling, hookedExchange } from "../../helpers/hooked-exchange.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/hooks.md"), "utf8");

/** The hooks of a recipe of the page. The folder's `node_modules` is a link that no sandbox shows, so none confines them. */
function recipe(name: string): HookTexts {
  const text =
    new RegExp(`\\*\\*${name}\\*\\*[^]*?\`\`\`jsonc\\n([^]*?)\`\`\``).exec(PAGE)?.[1] ?? "";
  const errors: ParseError[] = [];
  const { hooks } = parse(text, errors, { allowTrailingComma: true }) as { hooks: HookTexts };
  expect(errors).toEqual([]);
  return Object.fromEntries(
    HOOK_EVENTS.map((event) => [
      event,
      (hooks[event] ?? []).map((hook) => ({ ...hook, sandbox: false })),
    ]),
  );
}

async function withRecipe(name: string, given: Partial<Parameters<typeof hookedExchange>[0]>) {
  const bench = await hookedExchange({ hooks: recipe(name), ...given });
  symlinkSync(join(ROOT, "node_modules"), join(bench.repo, "node_modules"));
  return bench;
}

const writing = (path: string, content: string) => calling("write_file", { path, content });

describe("[HOOK-39] a recipe of the page", () => {
  it("formats the file that was written, and shows the model how", async () => {
    const bench = await withRecipe("A formatter", { answers: [[writing("a.ts", "const  a=1\n")]] });
    await bench.send("go");
    expect(readFileSync(join(bench.repo, "a.ts"), "utf8")).toBe("const a = 1;\n");
    expect(bench.results()[0]).toContain("-const  a=1\n+const a = 1;");
    expect(bench.notices()).toEqual([]);
  });

  it("lints the file that was written, and reports to the model what is wrong", async () => {
    const bench = await withRecipe("A linter", {
      answers: [[writing("a.ts", "debugger;\n")], [writing("b.ts", "export const b = 1;\n")]],
    });
    await bench.send("go");
    const [wrong, right] = bench.results();
    expect(wrong).toContain("debugger");
    expect(right).toMatch(/^created b\.ts \(\d+ bytes\)$/);
  });

  it("checks types before the model ends", async () => {
    const bench = await withRecipe("A type checker", {
      files: {
        "tsconfig.json": '{"compilerOptions": {"strict": true, "types": []}, "include": ["a.ts"]}',
      },
      answers: [
        [writing("a.ts", 'export const a: number = "one";\n')],
        "done",
        [calling("edit_file", { path: "a.ts", old_text: '"one"', new_text: "1" })],
        "fixed",
      ],
    });
    expect(await bench.send("go")).toMatchObject({ state: "done", answer: "fixed" });
    expect(JSON.stringify(bench.server.requests())).toContain("is not assignable to type 'number'");
  }, 60_000);
});
