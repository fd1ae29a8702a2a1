import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { CONTROL_FILES } from "../../../src/core/files/control-file-table.ts";
import { SECRET_FILES } from "../../../src/core/files/secret-files.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../src/core/permissions.ts";
import { createLinkSearch } from "../../../src/workspace/files/control-links.ts";
import { locate } from "../../../src/rules/paths/resolve-path.ts";
import { resolveSandbox, type Sandbox } from "../../../src/rules/paths/sandbox.ts";
import { plainParts } from "../../../src/workspace/commands/plain-line.ts";
import type { Call } from "../../../src/rules/permissions/call.ts";
import {
  decide as decideWith,
  type DecisionInput,
  isOffered,
} from "../../../src/rules/permissions/decide.ts";
import {
  flagLayer as flagLayerWith,
  type Layer,
  parentLayer,
  personaLayer,
  sessionLayer,
} from "../../../src/rules/permissions/layers.ts";
import {
  EFFECTS,
  type Effect,
  parseCallPattern as parseCallPatternWith,
  ruleOf,
  ruleText,
} from "../../../src/rules/permissions/rule.ts";
import { BUILT_IN_TOOLS, RUN_COMMAND, WRITE_FILE } from "../../../src/rules/tools/built-in.ts";
import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { makeFolder } from "../../helpers/temp.ts";

const decide = (input: Omit<DecisionInput, "tools">) =>
  decideWith({ ...input, tools: BUILT_IN_TOOLS });
const flagLayer = (allowed: readonly string[]) => flagLayerWith(allowed, BUILT_IN_TOOLS);
const parseCallPattern = (text: string) => parseCallPatternWith(text, BUILT_IN_TOOLS);

let sandbox: Sandbox;
const folder = makeFolder();
afterAll(() => folder[Symbol.dispose]());

beforeAll(async () => {
  const outside = folder.path;
  const repo = join(outside, "repo");
  for (const name of ["src/.hidden", "plain", "sub", ".vscode", ".git/hooks", ".reprise"]) {
    mkdirSync(join(repo, name), { recursive: true });
  }
  for (const file of [
    "src/a.ts",
    "src/[id].ts",
    "AGENTS.md",
    "plain/settings.json",
    "reprise.db",
  ]) {
    writeFileSync(join(repo, file), "text\n");
  }
  writeFileSync(join(outside, "secret.txt"), "secret\n");
  symlinkSync("../secret.txt", join(repo, "way-out"));
  symlinkSync("src", join(repo, "linked"));
  symlinkSync("AGENTS.md", join(repo, "notes.md"));
  writeFileSync(join(repo, ".env"), "KEY=1\n");
  symlinkSync(".env", join(repo, "settings.txt"));
  // the files in `plain` have the name `.vscode` too
  symlinkSync("../plain", join(repo, "sub/.vscode"));
  sandbox = await resolveSandbox({
    repoPath: repo,
    protectedPaths: [join(repo, "reprise.db")],
    linked: createLinkSearch(),
    found: async () => null,
  });
});

async function called(text: string): Promise<Call> {
  const [, name = "", , path] = /^(\w+)(\((.*)\))?$/s.exec(text) ?? [];
  const tool = BUILT_IN_TOOLS.get(name);
  if (tool === RUN_COMMAND) {
    return { tool, file: null, command: { parts: plainParts(path ?? ""), place: "none" } };
  }
  const file = path === undefined ? null : (await locate(sandbox, { path, tool })).file;
  return { tool, file, command: null };
}

const EVERY: readonly PermissionMode[] = PERMISSION_MODES;
const reviewer = personaLayer({ name: "reviewer", tools: ["read_file"] }, BUILT_IN_TOOLS);
const planning = parentLayer(
  { persona: { name: "assistant", tools: null }, plan_mode: true },
  BUILT_IN_TOOLS,
);
const lost = parentLayer({ persona: null, plan_mode: false }, BUILT_IN_TOOLS);
const stricter = (effect: Effect, rule: string): Layer => ({
  name: "repository",
  rules: [{ effect, ...parseCallPattern(rule) }],
});
/** A section of the user's config. */
const config = (rules: Partial<Record<Effect, readonly string[]>>, name = "config"): Layer => ({
  name,
  isConfig: true,
  rules: EFFECTS.flatMap((effect) =>
    (rules[effect] ?? []).map((rule) => ({ effect, ...parseCallPattern(rule) })),
  ),
});
const given = (...rules: string[]) =>
  sessionLayer(
    rules.map((rule) => ({ rule, n: null })),
    1,
    BUILT_IN_TOOLS,
  );

interface Row {
  readonly call: string;
  readonly modes?: readonly PermissionMode[];
  readonly below?: readonly Layer[];
  readonly user?: readonly Layer[];
  readonly restricting?: readonly Layer[];
  readonly effect: Effect;
  readonly layer?: string;
  readonly rule?: string;
}

const EDITING: readonly PermissionMode[] = ["edits", "auto", "all"];
const NOT_PLAN: readonly PermissionMode[] = ["ask", "edits", "auto", "all"];

/** Each row holds in each of its modes, without questions too: then nothing asks. */
const TABLE: readonly Row[] = [
  // reading
  { call: "read_file(src/a.ts)", modes: ["ask", "plan"], effect: "allow", layer: "built-in" },
  { call: "read_file(AGENTS.md)", modes: EVERY, effect: "allow" },
  { call: "read_file(.reprise/plan.json)", modes: EVERY, effect: "allow" },
  { call: "list_files(.)", modes: EVERY, effect: "allow" },
  { call: "find_files(src)", modes: EVERY, effect: "allow" },
  { call: "search_files(src)", modes: EVERY, effect: "allow" },
  { call: "delegate", modes: EVERY, effect: "allow" },
  { call: "ask_user", modes: EVERY, effect: "allow" },
  { call: "read_file(.git/config)", modes: EVERY, effect: "deny", layer: "fixed limit" },
  { call: "read_file(reprise.db)", modes: EVERY, effect: "deny", layer: "fixed limit" },
  { call: "read_file(reprise.db-wal)", modes: EVERY, effect: "deny", layer: "fixed limit" },
  { call: "read_file(way-out)", modes: EVERY, effect: "deny", layer: "fixed limit" },
  { call: "read_file(/etc/passwd)", modes: EVERY, effect: "deny", layer: "fixed limit" },
  // ordinary files
  { call: "write_file(src/a.ts)", modes: ["ask"], effect: "ask", layer: "built-in" },
  { call: "edit_file(src/a.ts)", modes: ["ask"], effect: "ask", rule: "edit_file" },
  { call: "write_file(new/deep/file.ts)", modes: ["ask"], effect: "ask", rule: "write_file" },
  { call: "write_file(src/a.ts)", modes: ["edits"], effect: "allow", layer: "mode edits" },
  { call: "edit_file(src/a.ts)", modes: ["auto"], effect: "allow", layer: "mode auto" },
  {
    call: "write_file(src/.hidden/x)",
    modes: ["all"],
    effect: "allow",
    layer: "mode all",
    rule: "*",
  },
  { call: "write_file(linked/a.ts)", modes: EDITING, effect: "allow" },
  { call: "write_file(src/a.ts)", modes: ["plan"], effect: "deny", rule: "planning mode" },
  { call: "edit_file(src/a.ts)", modes: ["plan"], user: [given("edit_file")], effect: "deny" },
  {
    call: "edit_file(src/a.ts)",
    modes: ["plan"],
    user: [flagLayer(["edit_file"])],
    effect: "deny",
  },
  // what no rule lifts
  {
    call: "write_file(.git/hooks/pre-commit)",
    modes: NOT_PLAN,
    effect: "deny",
    layer: "fixed limit",
  },
  { call: "write_file(.GIT/config)", modes: NOT_PLAN, effect: "deny" },
  { call: "write_file(GIT~1/config)", modes: NOT_PLAN, effect: "deny" },
  { call: "write_file(.reprise/config.jsonc)", modes: NOT_PLAN, effect: "deny", rule: ".reprise" },
  { call: "write_file(sub/.claude/settings.json)", modes: NOT_PLAN, effect: "deny" },
  {
    call: "write_file(.git/config)",
    modes: NOT_PLAN,
    user: [flagLayer(["write_file(.git/**)"])],
    effect: "deny",
  },
  {
    call: "write_file(.reprise/x)",
    modes: NOT_PLAN,
    user: [given("write_file(.reprise/x)")],
    effect: "deny",
  },
  {
    call: "write_file(way-out)",
    modes: NOT_PLAN,
    user: [flagLayer(["write_file"])],
    effect: "deny",
  },
  {
    call: "write_file(/etc/cron.d/x)",
    modes: NOT_PLAN,
    user: [flagLayer(["write_file"])],
    effect: "deny",
  },
  {
    call: "edit_file(reprise.db)",
    modes: NOT_PLAN,
    user: [flagLayer(["edit_file"])],
    effect: "deny",
  },
  // protected files: no mode and no wide rule covers them
  {
    call: "write_file(AGENTS.md)",
    modes: NOT_PLAN,
    effect: "ask",
    rule: "write_file(**/AGENTS.md)",
  },
  {
    call: "edit_file(sub/agents.MD)",
    modes: NOT_PLAN,
    effect: "ask",
    rule: "edit_file(**/AGENTS.md)",
  },
  { call: "write_file(.mcp.json)", modes: NOT_PLAN, effect: "ask" },
  { call: "write_file(.vscode/tasks.json)", modes: NOT_PLAN, effect: "ask" },
  { call: "write_file(.github/workflows/ci.yml)", modes: NOT_PLAN, effect: "ask" },
  { call: "write_file(notes.md)", modes: NOT_PLAN, effect: "ask" },
  {
    call: "write_file(plain/settings.json)",
    modes: NOT_PLAN,
    effect: "ask",
    rule: "write_file(**/.vscode)",
  },
  { call: "write_file(.envrc.)", modes: NOT_PLAN, effect: "ask" },
  {
    call: "write_file(AGENTS.md)",
    modes: NOT_PLAN,
    user: [flagLayer(["write_file"])],
    effect: "ask",
  },
  {
    call: "write_file(AGENTS.md)",
    modes: NOT_PLAN,
    user: [flagLayer(["write_file(**)"])],
    effect: "ask",
  },
  {
    call: "write_file(AGENTS.md)",
    modes: NOT_PLAN,
    user: [flagLayer(["write_file(*.md)"])],
    effect: "ask",
  },
  {
    call: "write_file(AGENTS.md)",
    modes: NOT_PLAN,
    user: [flagLayer(["write_file(AGENTS.md)"])],
    effect: "allow",
    layer: "--allow",
  },
  {
    call: "write_file(notes.md)",
    modes: NOT_PLAN,
    user: [flagLayer(["write_file(AGENTS.md)"])],
    effect: "ask",
  },
  {
    call: "write_file(.vscode/tasks.json)",
    modes: NOT_PLAN,
    user: [given("write_file(.vscode/**)")],
    effect: "allow",
    layer: "session",
  },
  {
    call: "write_file(.vscode/AGENTS.md)",
    modes: NOT_PLAN,
    user: [given("write_file(*/AGENTS.md)")],
    effect: "allow",
  },
  {
    call: "edit_file(.vscode/tasks.json)",
    modes: NOT_PLAN,
    user: [given("write_file(.vscode/**)")],
    effect: "ask",
  },
  // files that often hold secrets: no mode and no wide rule covers them, for reading neither
  { call: "read_file(.env)", modes: EVERY, effect: "ask", rule: "read_file(**/.env*)" },
  { call: "read_file(sub/.ENV.production)", modes: EVERY, effect: "ask", layer: "built-in" },
  { call: "read_file(.env.example)", modes: EVERY, effect: "allow" },
  { call: "read_file(.env.local.sample)", modes: EVERY, effect: "allow" },
  { call: "read_file(ENV~1)", modes: EVERY, effect: "ask" },
  { call: "read_file(settings.txt)", modes: EVERY, effect: "ask", rule: "read_file(**/.env*)" },
  { call: "read_file(certs/server.PEM)", modes: EVERY, effect: "ask", rule: "read_file(**/*.pem)" },
  { call: "read_file(server.key.)", modes: EVERY, effect: "ask" },
  { call: "read_file(.ssh/known)", modes: EVERY, effect: "ask", rule: "read_file(**/.ssh/**)" },
  { call: "read_file(id_rsa)", modes: EVERY, effect: "ask", rule: "read_file(**/id_*)" },
  { call: "read_file(id_rsa.bak)", modes: EVERY, effect: "ask" },
  { call: "read_file(id_rsa.pub)", modes: EVERY, effect: "allow" },
  { call: "read_file(src/id_map.ts)", modes: EVERY, effect: "allow" },
  { call: "read_file(.aws/credentials)", modes: EVERY, effect: "ask" },
  { call: "read_file(src/credentials/index.ts)", modes: EVERY, effect: "allow" },
  { call: "read_file(service-account-prod.json)", modes: EVERY, effect: "ask" },
  { call: "list_files(.ssh)", modes: EVERY, effect: "allow" },
  { call: "find_files(.env)", modes: EVERY, effect: "allow" },
  { call: "write_file(.env)", modes: NOT_PLAN, effect: "ask", rule: "write_file(**/.env*)" },
  { call: "edit_file(.env)", modes: ["plan"], effect: "deny", rule: "planning mode" },
  { call: "read_file(.env)", modes: EVERY, user: [given("read_file")], effect: "ask" },
  { call: "read_file(.env)", modes: EVERY, user: [given("read_file(**)")], effect: "ask" },
  { call: "read_file(.env)", modes: EVERY, user: [given("read_file(.*)")], effect: "ask" },
  {
    call: "read_file(.env)",
    modes: EVERY,
    user: [given("read_file(.env)")],
    effect: "allow",
    layer: "session",
  },
  {
    call: "read_file(sub/.env.test)",
    modes: EVERY,
    user: [flagLayer(["read_file(**/.env*)"])],
    effect: "allow",
  },
  {
    call: "read_file(settings.txt)",
    modes: EVERY,
    user: [given("read_file(.env)", "read_file(settings.txt)")],
    effect: "ask",
  },
  {
    call: "read_file(.ssh/config)",
    modes: EVERY,
    user: [given("read_file(.ssh/**)")],
    effect: "allow",
  },
  { call: "write_file(.env)", modes: NOT_PLAN, user: [given("read_file(.env)")], effect: "ask" },
  {
    call: "write_file(.vscode/.env)",
    modes: NOT_PLAN,
    user: [given("write_file(.vscode/**)")],
    effect: "ask",
  },
  {
    call: "read_file(.env)",
    modes: EVERY,
    user: [given("read_file(.env)")],
    restricting: [stricter("deny", "read_file(.env)")],
    effect: "deny",
  },
  // rules
  {
    call: "write_file(src/a.ts)",
    modes: ["ask"],
    user: [flagLayer(["write_file(src/**)"])],
    effect: "allow",
    rule: "write_file(src/**)",
  },
  {
    call: "write_file(src/.hidden/x)",
    modes: ["ask"],
    user: [flagLayer(["write_file(src/**)"])],
    effect: "allow",
  },
  {
    call: "write_file(src2/a.ts)",
    modes: ["ask"],
    user: [flagLayer(["write_file(src/**)"])],
    effect: "ask",
  },
  {
    call: "write_file(linked/a.ts)",
    modes: ["ask"],
    user: [flagLayer(["write_file(linked/**)"])],
    effect: "ask",
  },
  {
    call: "write_file(SRC/a.ts)",
    modes: ["ask"],
    user: [flagLayer(["write_file(src/**)"])],
    effect: "ask",
  },
  {
    call: "write_file(src/i.ts)",
    modes: ["ask"],
    user: [given("write_file(src/[id].ts)")],
    effect: "ask",
  },
  {
    call: "write_file(src/[id].ts)",
    modes: ["ask"],
    user: [given("write_file(src/[id].ts)")],
    effect: "allow",
  },
  // tools that are composed of others
  { call: "multi_edit(src/a.ts)", modes: ["ask"], effect: "ask", rule: "multi_edit" },
  {
    call: "apply_patch(src/a.ts)",
    modes: ["ask"],
    user: [flagLayer(["write_file(src/**)", "edit_file(src/**)"])],
    effect: "allow",
    rule: "write_file(src/**)",
  },
  {
    call: "apply_patch(.env)",
    modes: ["ask"],
    user: [flagLayer(["write_file", "edit_file"])],
    effect: "ask",
  },
  { call: "apply_patch(src/a.ts)", modes: EDITING, effect: "allow" },
  { call: "apply_patch(AGENTS.md)", modes: NOT_PLAN, effect: "ask" },
  { call: "apply_patch(.git/hooks/x)", modes: NOT_PLAN, effect: "deny", layer: "fixed limit" },
  { call: "apply_patch(src/a.ts)", modes: ["plan"], effect: "deny", rule: "planning mode" },
  {
    call: "multi_edit(src/a.ts)",
    modes: ["ask"],
    user: [given("edit_file(src/**)")],
    effect: "allow",
    rule: "edit_file(src/**)",
  },
  {
    call: "multi_edit(src/a.ts)",
    modes: ["ask"],
    user: [given("write_file(src/**)")],
    effect: "ask",
  },
  {
    call: "apply_patch(src/a.ts)",
    modes: NOT_PLAN,
    user: [given("apply_patch(src/**)")],
    restricting: [stricter("deny", "write_file(src/**)")],
    effect: "deny",
  },
  {
    call: "multi_edit(src/a.ts)",
    modes: NOT_PLAN,
    restricting: [personaLayer({ name: "p", tools: ["multi_edit"] }, BUILT_IN_TOOLS)],
    effect: "deny",
  },
  // what only makes it stricter
  {
    call: "write_file(src/a.ts)",
    modes: NOT_PLAN,
    restricting: [reviewer],
    effect: "deny",
    layer: "persona reviewer",
  },
  {
    call: "write_file(AGENTS.md)",
    modes: NOT_PLAN,
    user: [flagLayer(["write_file(AGENTS.md)"])],
    restricting: [reviewer],
    effect: "deny",
  },
  { call: "read_file(src/a.ts)", modes: EVERY, restricting: [reviewer], effect: "allow" },
  {
    call: "write_file(src/a.ts)",
    modes: NOT_PLAN,
    restricting: [planning],
    effect: "deny",
    layer: "parent session",
  },
  {
    call: "edit_file(src/a.ts)",
    modes: NOT_PLAN,
    restricting: [lost],
    effect: "deny",
    layer: "parent session",
  },
  {
    call: "write_file(src/a.ts)",
    modes: EDITING,
    restricting: [stricter("ask", "write_file(src/**)")],
    effect: "ask",
    layer: "repository",
  },
  {
    call: "write_file(SRC/A.ts)",
    modes: NOT_PLAN,
    restricting: [stricter("deny", "write_file(src/**)")],
    effect: "deny",
  },
  {
    call: "write_file(linked/a.ts)",
    modes: NOT_PLAN,
    restricting: [stricter("deny", "write_file(linked/**)")],
    effect: "deny",
  },
  {
    call: "write_file(src/a.ts)",
    modes: ["ask"],
    restricting: [stricter("allow", "write_file")],
    effect: "ask",
  },
  {
    call: "read_file(src/a.ts)",
    modes: EVERY,
    restricting: [stricter("deny", "read_file(src/**)")],
    effect: "deny",
  },
  // the user's config
  {
    call: "write_file(src/a.ts)",
    modes: ["ask"],
    below: [config({ allow: ["write_file(src/**)"] })],
    effect: "allow",
    layer: "config",
  },
  {
    call: "write_file(src/a.ts)",
    modes: ["ask"],
    below: [config({ allow: ["write_file"], ask: ["write_file(src/**)"] })],
    effect: "ask",
    layer: "config",
  },
  {
    // a mode that a person chose is stronger
    call: "write_file(src/a.ts)",
    modes: EDITING,
    below: [config({ ask: ["write_file(src/**)"] })],
    effect: "allow",
  },
  {
    // one that the config chose is not
    call: "write_file(src/a.ts)",
    modes: EDITING,
    user: [config({ ask: ["write_file(src/**)"] })],
    effect: "ask",
    layer: "config",
  },
  {
    call: "write_file(src/a.ts)",
    modes: NOT_PLAN,
    below: [config({ deny: ["write_file(SRC/**)"] })],
    user: [given("write_file(src/a.ts)"), flagLayer(["write_file"])],
    effect: "deny",
    layer: "config",
    rule: "write_file(SRC/**)",
  },
  {
    call: "write_file(src/a.ts)",
    modes: NOT_PLAN,
    user: [
      config({ deny: ["write_file"] }),
      config({ allow: ["write_file(src/**)"] }, "config for /work"),
      given("write_file(src/a.ts)"),
    ],
    effect: "allow",
    layer: "session",
  },
  {
    call: "write_file(src/a.ts)",
    modes: NOT_PLAN,
    below: [
      config({ allow: ["write_file"] }),
      config({ deny: ["write_file"] }, "config for /work"),
    ],
    user: [given("write_file(src/a.ts)")],
    effect: "deny",
    layer: "config for /work",
  },
  {
    call: "write_file(src/a.ts)",
    modes: ["ask"],
    below: [config({ ask: ["write_file"] })],
    user: [given("write_file(src/a.ts)")],
    effect: "allow",
    layer: "session",
  },
  {
    call: "write_file(AGENTS.md)",
    modes: NOT_PLAN,
    below: [config({ allow: ["write_file(**)"] })],
    effect: "ask",
    layer: "built-in",
  },
  {
    call: "write_file(AGENTS.md)",
    modes: NOT_PLAN,
    below: [config({ allow: ["write_file(AGENTS.md)"] })],
    effect: "allow",
    layer: "config",
  },
  {
    call: "write_file(.git/config)",
    modes: NOT_PLAN,
    below: [config({ allow: ["write_file", "write_file(.git/config)"] })],
    effect: "deny",
    layer: "fixed limit",
  },
  {
    call: "write_file(src/a.ts)",
    modes: ["plan"],
    below: [config({ allow: ["write_file"] })],
    effect: "deny",
    rule: "planning mode",
  },
  {
    call: "write_file(src/a.ts)",
    modes: NOT_PLAN,
    below: [config({ allow: ["write_file"] })],
    restricting: [reviewer],
    effect: "deny",
  },
  {
    call: "read_file(src/a.ts)",
    modes: EVERY,
    below: [config({ deny: ["read_file(src/**)"] })],
    effect: "deny",
  },
  // commands
  {
    call: "run_command(npm test)",
    modes: ["ask", "edits", "auto"],
    effect: "ask",
    layer: "built-in",
    rule: "run_command",
  },
  { call: "run_command(npm test)", modes: ["all"], effect: "allow", layer: "mode all" },
  { call: "run_command(npm test)", modes: ["plan"], effect: "deny", rule: "planning mode" },
  {
    call: "run_command(npm test)",
    modes: ["plan"],
    user: [flagLayer(["run_command"])],
    effect: "deny",
  },
  {
    call: "run_command(npm test -- --run a.test.ts)",
    modes: ["ask"],
    user: [flagLayer(["run_command(npm test)"])],
    effect: "allow",
    layer: "--allow",
    rule: "run_command(npm test)",
  },
  {
    call: "run_command(npm 'test')",
    modes: ["ask"],
    user: [given("run_command(npm test)")],
    effect: "allow",
    layer: "session",
  },
  {
    call: "run_command(npm tests)",
    modes: ["ask"],
    user: [given("run_command(npm test)")],
    effect: "ask",
  },
  {
    call: "run_command(./npm test)",
    modes: ["ask"],
    user: [given("run_command(npm test)")],
    effect: "ask",
  },
  {
    call: "run_command(npm test && npm run lint)",
    modes: ["ask"],
    user: [given("run_command(npm test)")],
    effect: "ask",
  },
  {
    call: "run_command(npm test | npm run lint; npm test || npm run lint)",
    modes: ["ask"],
    user: [given("run_command(npm run lint)"), flagLayer(["run_command(npm test)"])],
    effect: "allow",
  },
  {
    call: "run_command(npm test; rm -rf src)",
    modes: ["ask", "auto"],
    user: [flagLayer(["run_command(npm)"])],
    effect: "ask",
  },
  {
    call: "run_command(npm test $(rm -rf src))",
    modes: ["ask", "auto"],
    user: [flagLayer(["run_command(npm test)"])],
    effect: "ask",
  },
  {
    call: "run_command(npm test $(rm -rf src))",
    modes: ["ask"],
    user: [flagLayer(["run_command"])],
    effect: "allow",
  },
  {
    call: "run_command(npm test && /bin/rm -rf src)",
    modes: NOT_PLAN,
    restricting: [stricter("deny", "run_command(rm)")],
    effect: "deny",
    layer: "repository",
    rule: "run_command(rm)",
  },
  {
    call: "run_command(npm test)",
    modes: ["all"],
    restricting: [stricter("deny", "run_command(rm)")],
    effect: "allow",
  },
  {
    call: "run_command(echo $(rm -rf src))",
    modes: ["all"],
    restricting: [stricter("deny", "run_command(rm)")],
    effect: "ask",
    layer: "repository",
  },
  {
    call: "run_command(npm test)",
    modes: NOT_PLAN,
    user: [flagLayer(["run_command"])],
    restricting: [reviewer],
    effect: "deny",
    layer: "persona reviewer",
  },
  { call: "run_command(npm test)", modes: NOT_PLAN, restricting: [planning], effect: "deny" },
  { call: "run_command(npm test)", modes: NOT_PLAN, restricting: [lost], effect: "deny" },
  {
    call: "run_command(npm test)",
    modes: ["ask"],
    user: [flagLayer(["write_file(npm)", "edit_file"])],
    effect: "ask",
  },
  {
    // only the config lifts what the config denies, and it may be hidden here
    call: "run_command(echo $(rm -rf src))",
    modes: NOT_PLAN,
    below: [config({ deny: ["run_command(rm)"] })],
    user: [given("run_command")],
    effect: "ask",
    layer: "config",
    rule: "run_command(rm)",
  },
  {
    call: "run_command(echo $(rm -rf src))",
    modes: NOT_PLAN,
    below: [
      config({ deny: ["run_command"] }),
      config({ ask: ["run_command(rm)"] }, "config for x"),
    ],
    effect: "deny",
    layer: "config",
    rule: "run_command",
  },
  {
    call: "run_command(rm -rf src)",
    modes: ["ask"],
    below: [
      config({ deny: ["run_command"] }),
      config({ ask: ["run_command(rm)"] }, "config for x"),
    ],
    effect: "ask",
    layer: "config for x",
  },
  // tools that the program has besides
  { call: "deploy", modes: ["ask", "edits", "auto"], effect: "ask", rule: "*" },
  { call: "deploy", modes: ["all"], effect: "allow" },
  { call: "deploy", modes: ["plan"], effect: "deny" },
];

const NAMES = TABLE.map(
  (row) =>
    [
      `${row.call} in ${(row.modes ?? []).join(", ")}, row ${TABLE.indexOf(row) + 1}: ${row.effect}`,
      row,
    ] as const,
);

describe("[PERMISSION-1] [PERMISSION-2] [PERMISSION-3] the decision about a call", () => {
  it("has a table of at least 60 calls", () => {
    expect(TABLE.length).toBeGreaterThanOrEqual(60);
  });

  it.each(NAMES)(
    "%s",
    async (_, { call, modes = [], below = [], user = [], restricting = [], ...expected }) => {
      const input = { call: await called(call), below, user, restricting };
      for (const mode of modes) {
        expect({ mode, ...decide({ ...input, mode, asks: true }) }).toMatchObject({
          mode,
          ...expected,
        });
        const silent = decide({ ...input, mode, asks: false }).effect;
        expect(silent).toBe(expected.effect === "ask" ? "deny" : expected.effect);
      }
    },
  );
});

it("[PERMISSION-3] protects every control file at every depth, whatever the mode", async () => {
  for (const { name, rule } of CONTROL_FILES) {
    for (const path of [name, `deep/er/${name}`, `other/${name}/inside.txt`]) {
      const call = await called(`write_file(${path})`);
      for (const mode of NOT_PLAN) {
        const { effect } = decide({ call, mode, user: [], restricting: [], asks: true });
        expect([path, effect]).toEqual([path, rule === "never" ? "deny" : "ask"]);
      }
    }
  }
});

it("[PERMISSION-73] asks before it reads each kind of file that often holds secrets, at every depth", async () => {
  for (const { name, reason } of SECRET_FILES) {
    for (const path of [name, `deep/er/${name.toUpperCase()}`].map((each) =>
      each.replace("**", "a/b").replace("*", "x"),
    )) {
      const call = await called(`read_file(${path})`);
      for (const mode of EVERY) {
        const decision = decide({ call, mode, user: [], restricting: [], asks: true });
        expect([path, decision.effect]).toEqual([path, "ask"]);
        expect(decision.reason).toBe(`${name} is protected: ${reason}`);
      }
      const rule = ruleOf(call);
      const user = [given(rule === null ? "" : ruleText(rule))];
      expect(decide({ call, mode: "ask", user, restricting: [], asks: true }).effect).toBe("allow");
    }
  }
});

describe("[PERMISSION-4] a layer that only restricts", () => {
  it("never loosens a decision, whatever rule is added to it", async () => {
    const random = seededRandom("restricting layers");
    const any = <Item>(items: readonly Item[]): Item => {
      const item = items[Math.floor(random() * items.length)];
      if (item === undefined) {
        throw new Error("there is none");
      }
      return item;
    };
    const calls = await Promise.all([...new Set(TABLE.map(({ call }) => call))].map(called));
    const patterns = [
      "src/**",
      "**",
      "*.md",
      "AGENTS.md",
      "**/AGENTS.md",
      "SRC/?.ts",
      "linked/*",
      ".vscode/**",
      ".env",
      "**/*.pem",
      "npm test",
      "npm",
      "rm",
    ];
    const tools = [...BUILT_IN_TOOLS.names, "*"];
    const anyRule = () => ({
      effect: any(EFFECTS),
      tool: any(tools),
      pattern: random() < 0.4 ? null : any(patterns),
    });
    const layers = (max: number): Layer[] =>
      Array.from({ length: Math.floor(random() * max) }, () => ({
        name: "repository",
        rules: Array.from({ length: Math.floor(random() * 3) }, anyRule),
      }));
    const strictness = ({ effect }: { effect: Effect }) => EFFECTS.indexOf(effect);
    for (let run = 0; run < testSize("layers"); run += 1) {
      const input: Omit<DecisionInput, "tools"> = {
        call: any(calls),
        mode: any(PERMISSION_MODES),
        below: layers(2),
        user: layers(3),
        restricting: layers(3),
        asks: random() < 0.8,
      };
      const added = { name: "persona", rules: [anyRule()] };
      const at = Math.floor(random() * (input.restricting.length + 1));
      const restricting = input.restricting.toSpliced(at, 0, added);
      const [before, after] = [decide(input), decide({ ...input, restricting })];
      expect(strictness(after), JSON.stringify({ input, added })).toBeGreaterThanOrEqual(
        strictness(before),
      );
      if (isOffered(input.call.tool, { ...input, restricting })) {
        expect(isOffered(input.call.tool, input)).toBe(true);
      }
    }
  });
});

it("[CONFIG-6] what the config denies, no mode, session or option allows", async () => {
  const call = await called("write_file(src/a.ts)");
  const denied = config({ deny: ["write_file(src/*)"] });
  const above = [given("write_file(src/a.ts)"), flagLayer(["write_file"]), given("write_file")];
  for (const mode of PERMISSION_MODES) {
    for (let size = 0; size <= above.length; size += 1) {
      const user = above.slice(0, size);
      const others = { call, mode, restricting: [], asks: true };
      expect(decide({ ...others, below: [denied], user }).effect).toBe("deny");
      expect(decide({ ...others, user: [denied, ...user] }).effect).toBe("deny");
    }
  }
});

describe("[PERMISSION-5] a rule", () => {
  it.each([
    ["", "tool(pattern)"],
    ["write_file(", "tool(pattern)"],
    ["write_file()", "pattern is a path"],
    ["write_file(/etc/**)", "pattern is a path"],
    ["write_file(../x)", "pattern is a path"],
    ["write_file(a//b)", "pattern is a path"],
    ["write_file(a\0b)", "pattern is a path"],
    ["write_file(a\\)", "pattern is a path"],
    ["write_fil(x)", "write_file"],
    ["run_commands(rm)", "write run_command"],
    ["run_command()", "first words of one command"],
    ["run_command(npm test && rm)", "first words of one command"],
    ["run_command(rm *)", "first words of one command"],
    ["run_command(if)", "first words of one command"],
    ["delegate(x)", "takes no pattern"],
    ["*", "tool(pattern)"],
  ])("%j is refused with a sentence", (text, sentence) => {
    expect(() => parseCallPattern(text)).toThrow(
      expect.objectContaining({ code: "invalid_usage" }),
    );
    expect(() => parseCallPattern(text)).toThrow(sentence);
  });

  it.each(["github__create-issue", "CRM__lookUp", `a__${"x".repeat(61)}`])(
    "[PERMISSION-92] may name the tool %j of a server that is absent",
    (name) => {
      expect(parseCallPattern(name)).toEqual({ tool: name, pattern: null });
      expect(() => parseCallPattern(`${name}(x)`)).toThrow("takes no pattern");
    },
  );

  it("[PERMISSION-92] names a tool that is there in any form, and no other one without a server", () => {
    const named = BUILT_IN_TOOLS.with([BUILT_IN_TOOLS.get("Deploy-now")]);
    expect(parseCallPatternWith("Deploy-now", named).tool).toBe("Deploy-now");
    expect(() => parseCallPatternWith("Deploy-nw", named)).toThrow("write Deploy-now");
    for (const name of ["Deploy-now", "__x", "x__", `a__${"x".repeat(62)}`, "a__b.c"]) {
      expect(() => parseCallPattern(name)).toThrow(
        expect.objectContaining({ code: "invalid_usage" }),
      );
    }
  });

  it.each(["src/a.ts", "a*b?.ts", "back\\slash", "(1) [x] {y}.md", " space ", "ünïcode.txt", "*"])(
    "about exactly the file %j allows it and nothing else",
    async (path) => {
      const call = await called(`write_file(${path})`);
      const rule = ruleOf(call);
      const text = rule === null ? "" : ruleText(rule);
      const allows = (other: Call) =>
        decide({ call: other, mode: "ask", user: [given(text)], restricting: [], asks: true })
          .effect === "allow";
      expect(allows(call)).toBe(true);
      for (const other of [
        `${path}x`,
        `x${path}`,
        `below/${path}`,
        "src/b.ts",
        "aXbY.ts",
        "any",
        "src",
      ]) {
        expect(allows(await called(`write_file(${other})`))).toBe(false);
      }
    },
  );

  it("is not offered if it would not cover the call", async () => {
    expect(ruleOf(await called("write_file(plain/settings.json)"))).toBeNull();
    expect(ruleOf(await called("write_file(linked/a.ts)"))).toBeNull();
    expect(ruleOf(await called("write_file(bad\nname)"))).toBeNull();
  });

  it("is offered for a tool that only the program has", async () => {
    const call = await called("deploy");
    expect(ruleOf(call)).toEqual({ tool: "deploy", pattern: null });
    const decided = { call, user: [given("deploy")], restricting: [], asks: true };
    expect(decide({ ...decided, mode: "ask" }).effect).toBe("allow");
    expect(decide({ ...decided, mode: "plan" }).effect).toBe("deny");
  });

  it("with many wildcards takes no long time", () => {
    const [file] = [{ paths: [`${"a".repeat(4000)}b`], names: [["a"]], place: "inside" as const }];
    const pattern = `${"a*".repeat(1000)}c`;
    const call = { tool: WRITE_FILE, file, command: null };
    const rule = flagLayer([`write_file(${pattern})`]);
    expect(decide({ call, mode: "ask", user: [rule], restricting: [], asks: true }).effect).toBe(
      "ask",
    );
  });
});

describe("a command and its sandbox", () => {
  const npmTest = ["npm", "test"];
  const places = ["none", "sandbox", "network", "outside"] as const;
  const decided = (mode: PermissionMode, user: readonly Layer[]) =>
    places.map((place) => {
      const call = { tool: RUN_COMMAND, file: null, command: { parts: [npmTest], place } };
      return decide({ call, mode, user, restricting: [], asks: true }).effect;
    });
  const rule = flagLayer(["run_command(npm test)"]);

  // without a sandbox, in it, in it with the network, and out of it
  it.each<[PermissionMode, readonly Layer[], readonly Effect[]]>([
    ["ask", [], ["ask", "ask", "ask", "ask"]],
    ["edits", [], ["ask", "ask", "ask", "ask"]],
    ["auto", [], ["ask", "allow", "ask", "ask"]],
    ["all", [], ["allow", "allow", "allow", "allow"]],
    ["plan", [], ["deny", "deny", "deny", "deny"]],
    ["ask", [rule], ["allow", "allow", "ask", "ask"]],
    ["auto", [rule], ["allow", "allow", "ask", "ask"]],
    ["auto", [flagLayer(["run_command"])], ["allow", "allow", "ask", "ask"]],
    ["auto", [config({ ask: ["run_command(npm)"] })], ["ask", "ask", "ask", "ask"]],
    ["auto", [config({ deny: ["run_command(npm)"] })], ["deny", "deny", "deny", "deny"]],
    ["all", [config({ ask: ["run_command"] })], ["ask", "ask", "ask", "ask"]],
  ])("[SANDBOX-22] is decided in mode %s with %j", (mode, user, effects) => {
    expect(decided(mode, user)).toEqual(effects);
  });

  it("[SANDBOX-22] is offered no longer permission to leave it", () => {
    const ruleIn = (place: (typeof places)[number]) =>
      ruleOf({ tool: RUN_COMMAND, file: null, command: { parts: [npmTest], place } });
    expect(places.map((place) => ruleIn(place) !== null)).toEqual([true, true, false, false]);
  });
});
