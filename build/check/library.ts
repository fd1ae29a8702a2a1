import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { run } from "./run.ts";

/** A program that uses the public API as a user would: types in, values out. */
const PROGRAM = `import {
  type Client,
  createApp,
  createClient,
  openSqliteStore,
  phaseGraph,
  RepriseError,
  type SessionSummary,
  startServer,
  type Store,
  validateArtifact,
  validatePhasePlan,
} from "reprise";

const store: Store = await openSqliteStore({ path: "library.db" });
const server = await startServer({ store, version: "1", host: "127.0.0.1", port: 0 });
const client: Client = createClient({ baseUrl: server.url });
const created: SessionSummary = await client.createSession({});
await client.postMessage(created.id, "Hello");
const sessions: readonly SessionSummary[] = (await client.listSessions()).sessions;
const app = await createApp({ store, version: "1", hosts: { bound: "127.0.0.1", extra: ["test"] } });
const live: number = (await app.fastify.inject({ url: "/livez", headers: { host: "test" } })).statusCode;
await app.fastify.close();
await server.close();
await store.close();
const { plan, findings } = validatePhasePlan('{"phases": []}');
const waves: number = plan === null ? 0 : phaseGraph(plan).waves.length;
const title: string | null = sessions[0]?.title ?? null;
const notes = await validateArtifact("{}", { schema: "team/note@1", project: import.meta.dirname });
const [note] = notes.findings;
const error = typeof RepriseError;
console.log(JSON.stringify({ live, title, waves, findings: findings.length, note: note?.code, error }));
`;

const NOTE = '{ "$id": "team/note@1", "type": "object", "required": ["text"] }';

/** Compiles the program with both ways of finding modules that a user may have, and runs it. */
export function tryLibrary(
  folder: string,
  { node, typescript }: { node: string; typescript: string },
): void {
  const options = { cwd: folder, env: { HOME: folder, PATH: "/nowhere" } };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "program.ts"), PROGRAM);
  mkdirSync(join(folder, ".reprise/schemas"), { recursive: true });
  writeFileSync(join(folder, ".reprise/schemas/note.json"), NOTE);
  for (const [module, moduleResolution] of [
    ["nodenext", "nodenext"],
    ["node20", "node16"],
    ["esnext", "bundler"],
  ]) {
    writeFileSync(join(folder, "tsconfig.json"), settings({ module, moduleResolution }));
    run([node, typescript, "--project", "tsconfig.json"], options);
  }
  const { stdout } = run([node, "program.js"], options);
  const expected =
    '{"live":200,"title":"Hello","waves":0,"findings":2,"note":"missing_property","error":"function"}\n';
  if (stdout !== expected) {
    throw new Error(`the library answered ${stdout}`);
  }
}

function settings(options: Readonly<Record<string, string | undefined>>): string {
  const compilerOptions = {
    ...options,
    target: "es2024",
    lib: ["es2024", "esnext.disposable"],
    types: ["node"],
    strict: true,
  };
  return JSON.stringify({ compilerOptions, files: ["program.ts"] });
}
