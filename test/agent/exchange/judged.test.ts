import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { tool } from "@langchain/core/tools";
import { expect, it } from "vitest";
import { z } from "zod";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { PERMISSION_MODES } from "../../../src/core/permissions.ts";
import { createSettings } from "../../../src/rules/config/settings.ts";
import { explainCall } from "../../../src/rules/permissions/explain.ts";
import { BUILT_IN_TOOLS } from "../../../src/rules/tools/built-in.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { keepRule } from "../../../src/store/records/sessions/permissions.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

const DEPLOY = "deploy-now";
const LOOK_UP = "crm__look-up";
const TOOLS = BUILT_IN_TOOLS.with([{ name: LOOK_UP, effect: "reads", repeatable: true }]);
const PROGRAM_TOOLS = [DEPLOY, LOOK_UP].map((name) =>
  tool(async () => "done", { name, description: "Does it.", schema: z.object({}) }),
);

const CALLS = [
  { text: "read_file(a.txt)", name: "read_file", args: { path: "a.txt" } },
  { text: "read_file(.env)", name: "read_file", args: { path: ".env" } },
  { text: "list_files(.)", name: "list_files", args: { path: "." } },
  { text: "write_file(new.txt)", name: "write_file", args: { path: "new.txt", content: "x" } },
  { text: "write_file(AGENTS.md)", name: "write_file", args: { path: "AGENTS.md", content: "x" } },
  { text: "write_file(.codex/x)", name: "write_file", args: { path: ".codex/x", content: "x" } },
  { text: DEPLOY, name: DEPLOY, args: {} },
  { text: LOOK_UP, name: LOOK_UP, args: {} },
];
const RULES = [
  "read_file",
  "read_file(a.txt)",
  "read_file(.env)",
  "list_files",
  "write_file",
  "write_file(new.txt)",
  "write_file(AGENTS.md)",
  LOOK_UP,
];
const PERSONAS = {
  all: "",
  reading: "tools: [read_file, list_files]\n",
  writing: `tools: [read_file, write_file, ${DEPLOY}]\n`,
  looking: `tools: [${LOOK_UP}]\n`,
};

const RUNS = testSize("judged-calls");
/** With so many, each of `WANTED` has happened but by a chance of less than one in a million. */
const MOST_RUNS = Math.max(RUNS, 600);
const EFFECTS = ["allow", "ask", "deny"];
/** What has to happen to some call. In a short run, effects alone: for each tool it would take many calls. */
const WANTED =
  RUNS < 150
    ? EFFECTS
    : [
        ...EFFECTS.flatMap((effect) => [`write_file ${effect}`, `${DEPLOY} ${effect}`]),
        `${LOOK_UP} allow`,
        `${LOOK_UP} deny`,
      ];

/** What happened to the only call of an exchange, as far as its model or a person was shown. */
interface Seen {
  readonly effect: "allow" | "ask" | "deny";
  readonly rule?: string | undefined;
  readonly layer?: string | undefined;
}

function seenIn(text: string, isQuestion: boolean): Seen {
  const [, rule, layer] =
    (isQuestion
      ? /The rule (.+) \(([^()]+)\) asks\./
      : /denied by the rule (.+) \(([^()]+)\)/
    ).exec(text) ?? [];
  if (isQuestion || rule !== undefined) {
    return { effect: isQuestion ? "ask" : "deny", rule, layer };
  }
  return { effect: /choose another file|no tool|not a valid tool/.test(text) ? "deny" : "allow" };
}

it("[PERMISSION-91] what is explained is what happens, also with tools of the program", async () => {
  const random = seededRandom("explained and judged");
  const any = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) {
      throw new Error("there is none");
    }
    return item;
  };
  const some = <Item>(items: readonly Item[], part: number) => items.filter(() => random() < part);
  let called = CALLS[0];
  const server = await startModelServer({
    answer: (messages) => {
      const last = messages.at(-1);
      return last?.role === "tool" || called === undefined
        ? { content: `end: ${last?.content}` }
        : { toolCalls: [{ name: called.name, arguments: JSON.stringify(called.args) }] };
    },
  });
  const bench = await openBench(server, {}, { tools: TOOLS, programTools: PROGRAM_TOOLS });
  const { store, parts } = bench;
  const folders = [bench.repo, join(temporaryFolder(), ".codex/repo")];
  const userDir = temporaryFolder();
  const file = join(temporaryFolder(), "config.jsonc");
  const env = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
  for (const [name, fields] of Object.entries(PERSONAS)) {
    writeFileSync(join(userDir, `${name}.md`), `---\nname: ${name}\n${fields}---\nYou act.\n`);
  }
  for (const repo of folders) {
    mkdirSync(join(repo, ".reprise"), { recursive: true });
    writeFileSync(join(repo, "a.txt"), "a\n");
    writeFileSync(join(repo, ".env"), "A=1\n");
  }
  const seen = new Set<string>();
  const missing = (): readonly string[] => WANTED.filter((each) => !seen.has(each));
  // an effect may have had no chance in a few random calls
  for (let run = 0; run < RUNS || (missing().length > 0 && run < MOST_RUNS); run += 1) {
    called = any(CALLS);
    const repo_path = any([...folders, bench.repo, bench.repo]);
    const [rules, personas] = [some(RULES, 0.2), Object.keys(PERSONAS)];
    const permission = {
      ...(random() < 0.3 ? { mode: any(PERMISSION_MODES) } : {}),
      allow: some(RULES, 0.1),
      ask: some(RULES, 0.1),
      deny: some(RULES, 0.05),
    };
    const guarded = random() < 0.1 ? ["new.txt"] : [];
    writeFileSync(file, JSON.stringify({ permission, protected: guarded }));
    const restricting = { ask: some(RULES, 0.05), deny: some(RULES, 0.05) };
    writeFileSync(
      join(repo_path, ".reprise/config.jsonc"),
      JSON.stringify({ permission: restricting }),
    );
    for (const name of ["new.txt", "AGENTS.md"]) {
      rmSync(join(repo_path, name), { force: true });
    }
    const mode = any(PERMISSION_MODES);
    const isPlan = random() < 0.15;
    const top = { repo_path, persona_name: any(["all", "all", any(personas)]), plan_mode: isPlan };
    const { id: root } = await store.write(createSession, {
      ...top,
      ...(mode === "plan" ? {} : { permission: mode }),
    });
    const isChild = random() < 0.3;
    const persona_name = any(["all", any(personas)]);
    const { id } = isChild
      ? await store.write(createSession, { repo_path, persona_name, parent_session_id: root })
      : { id: root };
    for (const rule of [...rules, ...some([DEPLOY], 0.3)]) {
      await store.write(keepRule, { id, rule, n: null });
    }
    const given = {
      ...parts,
      env: {},
      personas: { ...parts.personas, userDir },
      settings: createSettings({ env, file, home: userDir }),
      permission: { allow: some([...RULES, DEPLOY], 0.1), asks: random() < 0.7 },
    };
    const session = await store.read(readSession, { id });
    const place = { session, repo_path, persona_name: session.persona_name ?? "", mode: null };
    const declared = TOOLS.with([TOOLS.get(DEPLOY)]);
    const explained = await explainCall({ ...given, tools: declared }, place, called.text);

    const live = { listener: () => undefined, signal: new AbortController().signal };
    const request = { session_id: id, text: "go" };
    const { state, messages } = await createExchanger(given).exchange(request, live);
    const [question] = await store.read(listOpenQuestions, { reference: id });
    const result = messages.find(({ role }) => role === "tool")?.content ?? "";
    const happened = seenIn(question?.text ?? result, state === "waiting");
    const story = JSON.stringify({
      run,
      called,
      mode,
      top,
      isChild,
      persona_name,
      permission,
      rules,
    });
    expect(happened.effect, `${story} ${result} ${JSON.stringify(explained)}`).toBe(
      explained.effect,
    );
    if (happened.rule !== undefined) {
      const { rule, layer } = explained;
      expect({ rule: happened.rule, layer: happened.layer }, story).toEqual({ rule, layer });
    }
    seen.add(happened.effect).add(`${called.name} ${happened.effect}`);
  }
  expect(missing()).toEqual([]);
});

it("a further tool with the name of a built-in one is refused: it would run without a permission", async () => {
  const server = await startModelServer({ answer: () => ({ content: "end" }) });
  const { parts } = await openBench(server);
  const name = "write_file";
  const writing = tool(async () => "done", { name, description: "Writes.", schema: z.object({}) });
  expect(() => createExchanger({ ...parts, programTools: [writing] })).toThrow(
    expect.objectContaining({ code: "config_invalid", message: expect.stringContaining(name) }),
  );
});
