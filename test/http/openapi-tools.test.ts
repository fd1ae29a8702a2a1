import { execFile } from "node:child_process";
import { cpSync, existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

import { beforeAll, expect, it } from "vitest";

import type { Service } from "../fixtures/openapi-tools/service.ts";
import { converse } from "../helpers/converse.ts";
import { payingModel, startPayingService, TOKEN } from "../helpers/paying-service.ts";
import { startTestServer } from "../helpers/server.ts";
import { temporaryFolder } from "../helpers/temp.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TOOLS = join(ROOT, "test/fixtures/openapi-tools");
const MODULES = join(TOOLS, "node_modules");

/** They need an older TypeScript than the project, so they are in a separate package. */
beforeAll(async () => {
  const installed = join(MODULES, ".package-lock.json");
  const pins = join(TOOLS, "package-lock.json");
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(pins).mtimeMs) {
    const npm = ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    await run("npm", npm, TOOLS);
  }
});

/** Runs a program; what it printed is the message of the error if it fails. */
async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const env = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("npm_") && name !== "NODE_OPTIONS",
  );
  const path = `${dirname(process.execPath)}:${process.env["PATH"]}`;
  try {
    const options = { cwd, env: { ...Object.fromEntries(env), PATH: path, CI: "1" } };
    return (await promisify(execFile)(command, [...args], options)).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")}:\n${stdout}${stderr}`, { cause: error });
  }
}

const tool = (name: string): string => join(MODULES, ".bin", name);

/** A folder with the document of a service. */
async function documentOf(url: string): Promise<string> {
  const folder = temporaryFolder();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const document = await fetch(`${url}/openapi.json`, { headers });
  writeFileSync(join(folder, "openapi.json"), await document.text());
  return folder;
}

it.each([[TOKEN], [undefined]])(
  "[HTTP-203] redocly and spectral find nothing in the document (token: %s)",
  async (token) => {
    await using t = await startTestServer({ token });
    const folder = await documentOf(t.url);
    writeFileSync(join(folder, "rules.yaml"), 'extends: ["spectral:oas"]\n');
    const spectral = ["lint", "openapi.json", "--ruleset", "rules.yaml", "--fail-severity", "hint"];
    expect(await run(tool("spectral"), spectral, folder)).toContain("No results");
    const redocly = ["lint", "openapi.json", "--extends", "recommended", "--format", "json"];
    const found: unknown = JSON.parse(await run(tool("redocly"), redocly, folder));
    expect(found).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] });
  },
);

it("[HTTP-204] clients of openapi-typescript and @hey-api/openapi-ts compile, and hold the conversation of the package's own client", async () => {
  const t = await startPayingService(payingModel);
  const folder = await documentOf(t.url);
  for (const file of readdirSync(TOOLS).filter((name) =>
    /\.ts$|^tsconfig|^package\.json/.test(name),
  )) {
    cpSync(join(TOOLS, file), join(folder, file));
  }
  symlinkSync(MODULES, join(folder, "node_modules"));
  await run(tool("openapi-typescript"), ["openapi.json", "--output", "fetch/api.ts"], folder);
  const hey = ["--input", "openapi.json", "--output", "hey", "--client", "@hey-api/client-fetch"];
  await run(tool("openapi-ts"), [...hey, "--no-log-file"], folder);
  await run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "."], folder);

  const service: Service = { url: t.url, token: TOKEN, repo_path: await folderOf(t) };
  const own = await converse(service);
  expect(own).toEqual({
    posted: 1,
    waiting: "waiting",
    answers: ["allow once"],
    done: null,
    isFinished: true,
    roles: ["user", "user", "assistant", "tool", "tool", "tool", "assistant", "user", "assistant"],
    calls: ["read_file", "read_file", "pay"],
    name: "Rent",
    metadata: { month: "May" },
    listed: [{ name: "Rent", title: "before", last_seq: 9 }],
    format: "reprise/session@1",
    missing: [404, "session_not_found"],
    ended: "ended",
    late: [409, "session_ended"],
    wrong: ["/limit"],
    deleted: [9],
  });
  for (const name of ["fetch", "hey"]) {
    const module: unknown = await import(
      pathToFileURL(join(folder, `dist/${name}-conversation.js`)).href
    );
    const { converse: other } = module as { converse: typeof converse };
    expect(await other(service), name).toEqual(own);
  }
  expect(t.paid()).toEqual(["rent", "rent", "rent"]);
});

async function folderOf(t: Awaited<ReturnType<typeof startPayingService>>): Promise<string> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const path = `/api/sessions/${t.id}`;
  return (await t.call<{ repo_path: string }>("GET", path, { headers })).json.repo_path;
}
