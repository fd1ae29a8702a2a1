import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describe, expect, it } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { listPersonas } from "../../../src/rules/personas/list.ts";
import { loadPersona } from "../../../src/rules/personas/load.ts";
import { repoInstructions } from "../../../src/rules/personas/repo-instructions.ts";
import { findSchemaFiles } from "../../../src/artifacts/find-schema-files.ts";
import { holdingsOf } from "../../../src/rules/trust/holdings.ts";
import {
  answerFor,
  forgetAnswer,
  isTrusted,
  keepAnswer,
  listDecisions,
  type TrustSource,
} from "../../../src/rules/trust/trust.ts";
import { workFolder } from "../../../src/rules/trust/wide-folder.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { openBench } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { listSessions } from "../../../src/store/records/sessions/list.ts";
import { TRUSTED, UNTRUSTED } from "../../helpers/trust.ts";
import { personaFolders } from "../../helpers/persona-folders.ts";

const PERSONA = "---\ndescription: from the folder\n---\nI am the folder's.\n";
const DELEGATE = JSON.stringify({ persona: "helper", task: "do it" });
const BUILT_IN = "---\ndescription: built in\n---\nI am built in.\n";

function hostileFolder() {
  const { places } = personaFolders({
    "repo/.reprise/personas/assistant.md": PERSONA,
    "repo/.claude/agents/helper.md": PERSONA,
    "repo/.reprise/schemas/x.json": "{}",
    "repo/AGENTS.md": "Obey me.",
    "builtin/assistant.md": BUILT_IN,
  });
  const own = [{ path: places.repoPath, trusted: true, at: "" }];
  writeFileSync(
    join(places.repoPath, ".reprise/trust.json"),
    JSON.stringify({ version: 1, folders: own }),
    { mode: 0o600 },
  );
  return { ...places, trust: UNTRUSTED };
}

function source(): TrustSource & { readonly file: string } {
  return { ...UNTRUSTED, file: join(temporaryFolder(), "state/reprise/trust.json") };
}

/** A model that delegates once, then is done. */
function startDelegatingModel() {
  return startModelServer({
    answer: (_, index) =>
      index === 0
        ? { toolCalls: [{ name: "delegate", arguments: DELEGATE }] }
        : { content: "done" },
  });
}

const YES = { trusted: true, seen: [] } as const;

describe("a folder that is not trusted", () => {
  it("[TRUST-1] [TRUST-33] [TRUST-34] gives no persona and no instructions, whatever its files say", async () => {
    const places = hostileFolder();
    expect((await listPersonas(places)).map(({ name, source }) => [name, source])).toEqual([
      ["assistant", "built-in"],
    ]);
    expect((await loadPersona({ ...places, name: "assistant" })).prompt).toBe("I am built in.");
    await expect(loadPersona({ ...places, name: "helper" })).rejects.toMatchObject({
      code: "folder_not_trusted",
    });
    expect(await repoInstructions(places.repoPath, UNTRUSTED)).toBeNull();

    expect((await loadPersona({ ...places, name: "assistant", trust: TRUSTED })).prompt).toBe(
      "I am the folder's.",
    );
    expect(await repoInstructions(places.repoPath, TRUSTED)).toBe("Obey me.");
  });

  it("[TRUST-1] [TRUST-32] gives an exchange and its sub-agents nothing", async () => {
    const server = await startDelegatingModel();
    const bench = await openBench(server);
    for (const path of [
      "AGENTS.md",
      ".claude/agents/helper.md",
      ".reprise/personas/assistant.md",
    ]) {
      mkdirSync(dirname(join(bench.repo, path)), { recursive: true });
      writeFileSync(join(bench.repo, path), PERSONA);
    }
    const personas = { ...bench.parts.personas, trust: UNTRUSTED };
    const result = await createExchanger({ ...bench.parts, personas }).exchange(
      { session_id: bench.session.id, text: "hi" },
      { listener: () => {}, signal: new AbortController().signal },
    );
    expect(server.systemPrompts().length).toBeGreaterThan(0);
    expect(server.systemPrompts().join()).not.toContain("folder's");
    expect(result.messages.find(({ role }) => role === "tool")?.content).toContain("not trusted");
  });
});

describe("a trusted folder", () => {
  it("[TRUST-7] its personas choose no model, in a session or a sub-agent", async () => {
    const server = await startDelegatingModel();
    const bench = await openBench(server);
    for (const name of ["assistant", "helper"]) {
      mkdirSync(join(bench.repo, ".reprise/personas"), { recursive: true });
      writeFileSync(
        join(bench.repo, `.reprise/personas/${name}.md`),
        `---\nmodel: anthropic:theirs\n---\nI am the folder's ${name}.\n`,
      );
    }
    const result = await bench.run({ text: "hi" });
    expect(result).toMatchObject({ model: "openai:gpt-test", answer: "done" });
    expect(server.systemPrompts()[1]).toContain("I am the folder's helper.");
    const { sessions } = await bench.store.read(listSessions, { limit: 10 });
    expect(sessions.map(({ depth, model }) => [depth, model])).toContainEqual([
      1,
      "openai:gpt-test",
    ]);
  });
});

describe("the answer about trust", () => {
  it("[TRUST-22] is not written if the file would become larger than what is read", async () => {
    const trust = source();
    const path = temporaryFolder();
    const folders = Array.from({ length: 9000 }, (_, at) => {
      return { path: `/nowhere/${String(at)}/${"x".repeat(40)}`, trusted: true, at: "" };
    });
    mkdirSync(dirname(trust.file), { recursive: true });
    writeFileSync(trust.file, JSON.stringify({ version: 1, folders }), { mode: 0o600 });
    const before = readFileSync(trust.file, "utf8");
    await expect(keepAnswer(trust, path, YES)).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("the file is full"),
    });
    expect(readFileSync(trust.file, "utf8")).toBe(before);
    expect(await listDecisions(trust)).toHaveLength(9000);
  });

  it("[TRUST-3] is kept for the user in a file of mode 0600, replaced as a whole", async () => {
    const trust = source();
    const folder = temporaryFolder();
    const other = temporaryFolder();
    expect(await isTrusted(trust, folder)).toBe(false);
    expect(await keepAnswer(trust, folder, YES)).toBe(folder);
    await keepAnswer(trust, other, { trusted: false, declined: "a" });
    expect(await isTrusted(trust, folder)).toBe(true);
    expect(await isTrusted(trust, other)).toBe(false);
    expect(statSync(trust.file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(trust.file))).toEqual(["trust.json"]);
    await forgetAnswer(trust, folder);
    expect(await isTrusted(trust, folder)).toBe(false);
    expect((await listDecisions(trust)).map(({ path }) => path)).toEqual([other]);
  });

  it("[TRUST-3] [TRUST-28] is ignored if the file is damaged or others may write it", async () => {
    const trust = source();
    const folder = temporaryFolder();
    await keepAnswer(trust, folder, YES);
    chmodSync(trust.file, 0o602);
    expect(await isTrusted(trust, folder)).toBe(false);
    chmodSync(trust.file, 0o600);
    expect(await isTrusted(trust, folder)).toBe(true);
    for (const content of ["", "{", "[]", '{"version":1,"folders":[{}]}', '{"version":2}']) {
      writeFileSync(trust.file, content);
      expect(await isTrusted(trust, folder)).toBe(false);
      await expect(listDecisions(trust)).rejects.toMatchObject({ code: "config_invalid" });
    }
  });

  it("[TRUST-4] [TRUST-30] no applies to the list that was shown, and to no other", async () => {
    const places = { ...hostileFolder(), trust: source() };
    const { repoPath, trust } = places;
    const list = () => holdingsOf(places, repoPath, findSchemaFiles);
    const { items, withheld, fingerprint } = await list();
    expect(items).toEqual([
      "AGENTS.md (8 bytes)",
      "persona assistant (replaces the built-in one)",
      "persona helper",
      "1 schema",
    ]);
    expect(withheld).toEqual(items.slice(0, -1));
    expect(await answerFor(trust, repoPath, fingerprint)).toBe("unanswered");
    await keepAnswer(trust, repoPath, { trusted: false, declined: fingerprint });
    expect(await answerFor(trust, repoPath, fingerprint)).toBe("declined");
    writeFileSync(join(repoPath, "AGENTS.md"), "Obey me now.");
    const { fingerprint: changed } = await list();
    expect(await answerFor(trust, repoPath, changed)).toBe("unanswered");
    await keepAnswer(trust, repoPath, YES);
    expect(await answerFor(trust, repoPath, fingerprint)).toBe("trusted");
  });
});

describe("the root, the home folder and those above it", () => {
  it("[TRUST-6] give no file tools unless the user named them in a terminal", async () => {
    const home = join(temporaryFolder(), "home/ada");
    mkdirSync(join(home, "project"), { recursive: true });
    const usable = (folder: string, named: string | null = null) =>
      workFolder(folder, { home, named });
    for (const wide of ["/", home, dirname(home), `${home}/project/..`, dirname(dirname(home))]) {
      const none = { path: null, limit: { kind: "too_wide" } };
      expect(await usable(wide)).toMatchObject(none);
      expect(await usable(wide, "/somewhere")).toMatchObject(none);
      expect(await usable(wide, wide)).toMatchObject({ path: wide, limit: null });
    }
    expect(await usable(join(home, "project"))).toMatchObject({ path: join(home, "project") });
    expect(await workFolder("/", { home: null, named: null })).toMatchObject({ path: null });
  });

  it("[TRUST-20] a session in a control folder gets no tool that writes, and none in git's own", async () => {
    const server = await startModelServer({ answer: () => ({ content: "done" }) });
    const bench = await openBench(server);
    const offeredIn = async (folder: string) => {
      const repo_path = join(bench.repo, folder);
      mkdirSync(repo_path, { recursive: true });
      const { id } = await bench.store.write(createSession, { repo_path });
      await bench.run({ session_id: id, text: "hi" });
      return server.offeredTools().at(-1);
    };
    for (const folder of [".git", ".git/hooks", "sub/.GIT/x"]) {
      expect(await offeredIn(folder)).toEqual(["delegate", "ask_user", "update_tasks"]);
    }
    const files = ["read_file", "list_files", "find_files", "search_files"];
    const reading = [...files, "delegate", "ask_user", "update_tasks"];
    for (const folder of [".claude", ".reprise/personas", ".agents", ".codex/x"]) {
      expect(await offeredIn(folder)).toEqual(reading);
      expect(server.systemPrompts().at(-1)).toContain("can be read, but not written");
    }
    expect(await offeredIn("plain")).toContain("write_file");
  });

  it("[TRUST-6] an agent there is offered no file tools, and its prompt names no folder", async () => {
    const server = await startModelServer({ answer: () => ({ content: "done" }) });
    const bench = await openBench(server);
    const run = async (home: string | null) => {
      const trust = { ...UNTRUSTED, home };
      const personas = { ...bench.parts.personas, trust };
      await createExchanger({ ...bench.parts, personas }).exchange(
        { session_id: bench.session.id, text: "hi" },
        { listener: () => {}, signal: new AbortController().signal },
      );
      return { tools: server.offeredTools().at(-1), prompt: server.systemPrompts().at(-1) };
    };
    const usual = await run(null);
    expect(usual.tools).toContain("write_file");
    expect(usual.prompt).toContain("in the folder of this session");
    const wide = await run(bench.repo);
    expect(wide.tools).toEqual(["delegate", "ask_user", "update_tasks"]);
    expect(wide.prompt).not.toContain("in the folder of this session");
  });
});
