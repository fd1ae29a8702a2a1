import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, it, onTestFinished } from "vitest";

import { exportText } from "../../src/store/portable/export-text.ts";
import type { SessionTree } from "../../src/store/portable/export-schema.ts";
import { parseExport } from "../../src/store/portable/parse.ts";
import { projectKeyOf } from "../../src/store/project-key.ts";
import {
  earlierExport,
  EXPORTED_SESSIONS,
  EXPORTING_BUILDS,
  writeEarlierDatabase,
} from "../helpers/earlier-builds.ts";
import { type ModelServer, startModelServer } from "../helpers/model-server.ts";
import { createPostgres } from "../helpers/postgres.ts";
import { freshHome, type Home, unusedHome } from "../helpers/reprise.ts";

const AGENT = fileURLToPath(new URL("../fixtures/agents/asking.js", import.meta.url));

/** How each session that was exported continues: what is called after it was imported, and what the last call prints. */
const CONTINUED = {
  agent: [[["--agent", AGENT, "-p", "go on"]], "done"],
  failed: [[["-p", "go on"]], "an answer"],
  killed: [[["--continue-exchange"]], "an answer"],
  talk: [[["-p", "go on"]], "session_ended"],
  work: [[["answer", "three"], ["--continue-exchange"]], "an answer"],
} as const;

async function homeOn(engine: string, server: ModelServer): Promise<Home> {
  const env = server.env("openai");
  if (engine === "SQLite") {
    return freshHome(env);
  }
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return freshHome({ ...env, REPRISE_DATABASE: database.url });
}

/** The export of a session whose folder is on this machine. */
async function moved(tree: SessionTree, repo_path: string): Promise<SessionTree> {
  const project_key = await projectKeyOf(repo_path);
  return {
    ...tree,
    session: { ...tree.session, repo_path, project_key },
    children: await Promise.all(tree.children.map((child) => moved(child, repo_path))),
  };
}

it.each(
  EXPORTING_BUILDS.flatMap((build) => [[build, "SQLite"] as const, [build, "PostgreSQL"] as const]),
)(
  "[MOVE-35] sessions that %s exported are imported on %s, continue and verify",
  async (build, engine) => {
    const server = await startModelServer({ answer: () => ({ content: "an answer" }) });
    const home = await homeOn(engine, server);
    for (const name of EXPORTED_SESSIONS) {
      const tree = await moved(parseExport(earlierExport(build, name)), home.project);
      const file = join(home.home, `${name}.json`);
      writeFileSync(file, [...exportText(tree, "2026-11-24T00:00:00.000Z")].join(""));
      expect(await home.call(["sessions", "import", file])).toMatchObject({ code: 0 });

      const { id } = tree.session;
      const [calls, expected] = CONTINUED[name];
      let last = "";
      for (const [command, ...args] of calls) {
        const called =
          command === "answer"
            ? await home.call(["sessions", "answer", id, ...args])
            : await home.call(["--session", id, command, ...args]);
        last = `${called.stdout}${called.stderr}`;
      }
      expect(last, name).toContain(expected);
    }
    expect(await home.call(["sessions", "verify"])).toMatchObject({ code: 0 });
    const { code, stdout } = await home.call(["doctor"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringMatching(/^failed /m) });
    expect(server.refused()).toEqual([]);
  },
);

it.each(EXPORTING_BUILDS)(
  "[STORE-84] the program refuses the database of %s with one sentence",
  async (build) => {
    const home = unusedHome();
    const file = join(home.home, "earlier.db");
    writeEarlierDatabase(build, file);
    const { code, stdout, stderr } = await home.run(["sessions", "list", "--database", file]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^reprise: [^\n]*commit fe83431e[^\n]* \[database_too_old\]\n$/);
  },
);
