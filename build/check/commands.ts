import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type Ran, run, whileServing } from "./run.ts";

/** What a command needs of its machine: an empty home, a project folder, a Node.js. */
export interface Installed {
  /** The program: `bin/reprise.js` of the package. */
  readonly bin: string;
  readonly node: string;
  readonly home: string;
  readonly project: string;
  readonly version: string;
}

/** Runs every command of an installed package once; throws at the first that fails. */
export async function tryCommands(installed: Installed): Promise<void> {
  const { home, project, bin, node, version } = installed;
  mkdirSync(project, { recursive: true });
  const options = { cwd: project, env: { HOME: home, PATH: "/nowhere", NO_COLOR: "1" } };
  const reprise = (args: string, input = "", expected = 0): Ran =>
    run([node, bin, ...args.split(" ")], { ...options, input }, expected);
  expect(reprise("--version"), `${version}\n`);
  expect(reprise("--help"), "Usage: reprise");
  tryPlans(reprise, project);
  const id = trySessions(reprise);
  expect(reprise("doctor"), "ok");
  expect(reprise("backup copy.db"), "copy.db");
  expect(reprise(`sessions list --database ${join(project, "copy.db")}`), id.slice(0, 8));
  expect(reprise(`copy --to ${join(project, "other.db")}`), "");
  await whileServing([node, bin, "serve", "--port", "0"], options, async (url) => {
    expect(await read(`${url}/openapi.json`), `"version":"${version}"`);
    expect(await read(`${url}/api/sessions`), id);
    expect(await read(`${url}/api/artifacts/schemas`), "dev/phase-plan@1");
  });
  expect(reprise(`sessions delete ${id} --yes`), "");
  expect(reprise("sessions prune --older-than 1d --yes"), "");
}

type Reprise = (args: string, input?: string, expected?: number) => Ran;

function tryPlans(reprise: Reprise, project: string): void {
  const plan = reprise("plan new").stdout;
  writeFileSync(join(project, "plan.json"), plan);
  expect(reprise("plan validate plan.json"), "");
  expect(reprise("plan validate -", "{}", 1), "missing_property");
  expect(reprise("plan show plan.json"), "");
  expect(reprise("plan graph plan.json --format svg"), "<svg");
  expect(reprise("schema list"), "dev/phase-plan@1");
  expect(reprise("schema dev/phase-plan@1"), "Dev Phase Plan");
  mkdirSync(join(project, ".reprise/schemas"), { recursive: true });
  writeFileSync(
    join(project, ".reprise/schemas/note.json"),
    '{ "$id": "note@1", "type": "object" }',
  );
  expect(reprise("schema validate plan.json --schema note@1"), "plan.json: valid");
  expect(reprise("schema validate - --schema note@1", "[]", 1), "wrong_type");
}

function trySessions(reprise: Reprise): string {
  const output = reprise("-p Hello --json").stdout;
  const { session_id: id, answer }: { session_id: string; answer: string } = JSON.parse(output);
  if (!answer.includes("[demo]")) {
    throw new Error("the demo model did not answer");
  }
  expect(reprise("sessions list"), id.slice(0, 8));
  expect(reprise(`sessions show ${id.slice(0, 8)}`), "Hello");
  // without a terminal each line of standard input is a message
  expect(reprise(`sessions resume ${id}`, "What did I say?\n"), "[demo]");
  expect(reprise(`sessions verify ${id}`), "");
  expect(reprise(`sessions repair ${id}`), "");
  const exported = reprise(`sessions export ${id}`).stdout;
  expect(reprise("sessions import - --new-ids", exported), "");
  expect(reprise(`sessions end ${id}`), "");
  expect(reprise(`--session ${id}`, "more\n", 5), "session_ended");
  return id;
}

function expect({ stdout, stderr }: Ran, text: string): void {
  if (!`${stdout}${stderr}`.includes(text)) {
    throw new Error(`"${text}" is not in: ${stdout}${stderr}`);
  }
}

async function read(url: string): Promise<Ran> {
  const answer = await fetch(url);
  return { code: answer.status, stdout: await answer.text(), stderr: "" };
}
