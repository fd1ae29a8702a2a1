import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it, onTestFinished } from "vitest";

import { EARLIER_BUILDS, writeEarlierDatabase } from "../../helpers/earlier-builds.ts";
import { trustFolder } from "../../helpers/trust.ts";
import { freshHome, type Home, unusedHome } from "../../helpers/reprise.ts";
import { idLike, seed } from "../../helpers/sessions/seed.ts";

interface DoctorDocument {
  readonly ok: boolean;
  readonly checks: readonly Check[];
}

interface Check {
  readonly name: string;
  readonly status: string;
  readonly sentence: string;
}

describe("doctor", () => {
  it.each(EARLIER_BUILDS)(
    "[DOCTOR-3] [STORE-84] ends with the sentence about a database of an earlier build, and leaves no file: %s",
    async (build) => {
      const home = unusedHome();
      mkdirSync(dirname(home.database), { recursive: true });
      writeEarlierDatabase(build, home.database);
      const before = readdirSync(dirname(home.database));
      const { code, stdout, stderr } = await home.call(["doctor"]);
      expect(code).toBe(1);
      expect(stdout).toMatch(/^failed +version .*commit fe83431e/m);
      expect(stderr).toMatch(/^reprise: [^\n]*commit fe83431e[^\n]* \[database_too_old\]\n$/);
      expect(readdirSync(dirname(home.database))).toEqual(before);
    },
  );

  it("[DOCTOR-1] [SANDBOX-19] [DOCTOR-2] reports for each check whether it passes, and changes nothing", async () => {
    const home = unusedHome();
    const { checks } = await doctor(home, 0);
    expect(statuses(checks)).toEqual({
      config: "ok",
      token: "ok",
      file: "ok",
      modes: "ok",
      disk: "ok",
      personas: "ok",
      sandbox: "ok",
      models: "ok",
    });
    expect(existsSync(dirname(home.database))).toBe(false);

    await seed(home, { messages: ["hello"] });
    const before = fingerprint(home.database);
    const [text, json, quick] = await Promise.all([
      home.call(["doctor"]),
      doctor(home, 0),
      doctor(home, 0, ["--quick"]),
    ]);
    expect(text).toMatchObject({ code: 0, stderr: "" });
    expect(text.stdout.trimEnd().split("\n").at(-1)).toBe("17 checks: all is well");
    expect(text.stdout).toMatch(/^ok {7}integrity {3}SQLite's integrity_check found no errors\.$/m);
    expect(json.checks.map(({ name }) => name)).toEqual(
      "config token modes disk log sqlite integrity version references open exchanges queue threads runs personas sandbox models".split(
        " ",
      ),
    );
    expect(sentenceOf(quick, "integrity")).toContain("quick_check");
    expect(sentenceOf(json, "sandbox")).toMatch(
      /sandbox \(bubblewrap\)|without a sandbox, and ask: \w/,
    );
    expect(fingerprint(home.database)).toBe(before);
  });

  it.each<[what: string, name: string, said: RegExp, plant: (home: Home) => void]>([
    [
      "no database",
      "integrity",
      /damaged or is not a Reprise database/,
      (home) => {
        writeFileSync(home.database, "not a database ".repeat(300));
      },
    ],
    [
      "a damaged page",
      "integrity",
      /damaged/,
      (home) => {
        const bytes = readFileSync(home.database);
        bytes.fill(0xff, 4096 * 3, 4096 * 6);
        writeFileSync(home.database, bytes);
      },
    ],
    [
      "another program's",
      "version",
      /another program/,
      (home) => {
        plant(home, "PRAGMA application_id = 7");
      },
    ],
    [
      "a newer one",
      "version",
      /newer Reprise .*version 999/,
      (home) => {
        plant(home, "PRAGMA user_version = 999");
      },
    ],
    [
      "that of a build before the first release",
      "version",
      /commit fe83431e/,
      (home) => {
        writeEarlierDatabase("fe83431e", home.database);
      },
    ],
    [
      "broken references",
      "references",
      /1 rows of messages/,
      (home) => {
        plant(
          home,
          "PRAGMA foreign_keys = OFF; INSERT INTO messages (session_id, seq) VALUES ('nobody', 1)",
        );
      },
    ],
    [
      "another one's log",
      "log",
      /write-ahead log/,
      (home) => {
        rmSync(home.database);
        writeFileSync(`${home.database}-wal`, "x".repeat(4096));
      },
    ],
  ])("[DOCTOR-3] finds %s, reports it and changes nothing", async (_, name, said, damage) => {
    const home = freshHome();
    await seed(home, { messages: ["hello"] });
    damage(home);
    const before = existsSync(home.database) ? fingerprint(home.database) : "";
    const document = await doctor(home, 1);
    expect(statuses(document.checks)[name]).toBe("failed");
    expect(sentenceOf(document, name)).toMatch(said);
    // the rest is reported all the same
    expect(statuses(document.checks)).toMatchObject({ disk: "ok", models: "ok" });
    const text = await home.call(["doctor"]);
    expect(text.code).toBe(1);
    expect(text.stderr.replace(/^reprise: .* \[database_too_old\]\n$/, "")).toBe("");
    expect(text.stdout).toMatch(/1 failed, \d+ warnings?\n$/);
    expect(existsSync(home.database) ? fingerprint(home.database) : "").toBe(before);
  });

  it.skipIf(process.platform !== "linux")(
    "[DOCTOR-6] finds the process that uses a write-ahead log that was deleted",
    async () => {
      const home = freshHome();
      await seed(home, { id: idLike("abcdef1"), messages: ["before"] });
      const service = home.start(["serve", "--port", "0"]);
      const [, url] = await service.waitFor(/listening on (\S+)/);
      await fetch(`${url}/api/sessions/${idLike("abcdef1")}/messages`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ content: "while it is served" }),
      });
      expect(statuses((await doctor(home, 0)).checks)).toMatchObject({ log: "ok", open: "ok" });

      rmSync(`${home.database}-wal`);
      const document = await doctor(home, 1);
      expect(statuses(document.checks)["log"]).toBe("failed");
      expect(sentenceOf(document, "log")).toContain(`process ${service.pid}`);
    },
  );

  it("[DOCTOR-7] [DOCTOR-11] warns of exchanges that were interrupted, and counts threads without a session", async () => {
    const home = freshHome();
    await seed(
      home,
      { id: idLike("abcdef1") },
      { id: idLike("abcdef2") },
      { id: idLike("abcdef3") },
    );
    plant(home, `UPDATE sessions SET exchange_open = 1 WHERE id = '${idLike("abcdef1")}'`);
    plant(
      home,
      `UPDATE sessions SET lease_owner = '{}', lease_expires_at = '2020-01-01T00:00:00.000Z' WHERE id = '${idLike("abcdef2")}'`,
    );
    plant(
      home,
      `UPDATE sessions SET exchange_open = 1, lease_owner = '{}', lease_expires_at = '2999-01-01T00:00:00.000Z' WHERE id = '${idLike("abcdef3")}'`,
    );
    plant(home, `INSERT INTO threads (thread_id) VALUES ('${idLike("abcdef1")}:0')`);
    expect(statuses((await doctor(home, 0)).checks)).toMatchObject({ threads: "ok" });
    plant(home, `INSERT INTO threads (thread_id) VALUES ('${idLike("abcdef9")}:0')`);
    const document = await doctor(home, 0);
    expect(statuses(document.checks)).toMatchObject({ exchanges: "warning", threads: "ok" });
    expect(sentenceOf(document, "exchanges")).toMatch(
      /in 2 sessions \(abcdef[12]0, abcdef[12]0\).* Resume with: reprise --session <id>$/,
    );
    expect(sentenceOf(document, "threads")).toBe(
      "1 thread of sessions, 1 thread without one. `reprise threads list` lists those.",
    );
  });

  it("[QUEUE-31] warns of queued exchanges while no service runs", async () => {
    const home = freshHome();
    const id = idLike("abcdef1");
    await seed(home, { id });
    expect(sentenceOf(await doctor(home, 0), "queue")).toBe("No exchange is queued.");
    await home.call(["send", id, "waits"]);
    const document = await doctor(home, 0);
    expect(statuses(document.checks)).toMatchObject({ queue: "warning", exchanges: "ok" });
    expect(sentenceOf(document, "queue")).toMatch(
      /^1 exchange queued, the first since \S+Z\. No service runs them: start one with reprise serve\.$/,
    );
    plant(
      home,
      "INSERT INTO nodes (id, folders, seen_at) VALUES ('n', '{}', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
    );
    expect(statuses((await doctor(home, 0)).checks)).toMatchObject({ queue: "ok" });
  });

  it("[DOCTOR-8] finds what is wrong with folders, personas and models, and shows no key", async () => {
    const home = freshHome({ XDG_CONFIG_HOME: "relative", ANTHROPIC_API_KEY: "sk-very-secret" });
    mkdirSync(join(home.project, ".reprise/personas"), { recursive: true });
    writeFileSync(join(home.project, ".reprise/personas/broken.md"), "---\nname: [\n---\nprompt");
    expect(sentenceOf(await doctor(home, 0), "personas")).toContain("not trusted");
    trustFolder(home.home, home.project);
    const document = await doctor(home, 0);
    expect(document.checks.filter(({ status }) => status === "warning")).toMatchObject([
      { name: "config", sentence: expect.stringContaining("XDG_CONFIG_HOME") },
      { name: "personas", sentence: expect.stringContaining("broken.md") },
    ]);
    expect(sentenceOf(document, "models")).toMatch(/anthropic:\S+ \(ANTHROPIC_API_KEY set\)/);
    expect(JSON.stringify(document)).not.toContain("secret");

    const keyless = await doctor(home, 1, [], {
      REPRISE_MODEL: "openai:gpt-test",
      HOME: undefined,
    });
    expect(keyless.checks.filter(({ status }) => status === "failed")).toMatchObject([
      { name: "config", sentence: expect.stringContaining("HOME is not set") },
      { name: "models", sentence: expect.stringContaining("OPENAI_API_KEY") },
    ]);
  });

  it("[DOCTOR-9] asks providers only with --online, and only for their models", async () => {
    const asked: string[] = [];
    const provider = await startProvider((request) => {
      asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
      return request.headers.authorization === "Bearer good" ? 200 : 401;
    });
    const home = freshHome({ OPENAI_BASE_URL: `${provider}/v1`, OPENAI_API_KEY: "good" });
    expect(statuses((await doctor(home, 0)).checks)).not.toHaveProperty("online");
    expect(asked).toEqual([]);

    expect(statuses((await doctor(home, 0, ["--online"])).checks)["online"]).toBe("ok");
    expect(asked).toEqual(["GET /v1/models"]);
    const refused = await doctor(home, 1, ["--online"], { OPENAI_API_KEY: "bad-key" });
    expect(sentenceOf(refused, "online")).toMatch(/refuses the key/);
    expect(JSON.stringify(refused)).not.toContain("bad-key");
    const nobody = await doctor(home, 1, ["--online"], {
      OPENAI_BASE_URL: "http://127.0.0.1:1/v1",
    });
    expect(sentenceOf(nobody, "online")).toMatch(/cannot be reached/);
  });
});

async function doctor(
  home: Home,
  code: number,
  options: readonly string[] = [],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<DoctorDocument> {
  const finished = await home.call(["doctor", "--json", ...options], { env });
  expect(finished).toMatchObject({ code, stderr: "" });
  const document = JSON.parse(finished.stdout) as DoctorDocument;
  expect(document.ok).toBe(code === 0);
  return document;
}

/** The worst status of each name. */
function statuses(checks: readonly Check[]): Record<string, string> {
  const order = ["ok", "warning", "failed"];
  const sorted = [...checks].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
  return Object.fromEntries(sorted.map(({ name, status }) => [name, status]));
}

function sentenceOf({ checks }: DoctorDocument, name: string): string {
  return checks.find((check) => check.name === name)?.sentence ?? "";
}

function fingerprint(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

function plant(home: Home, sql: string): void {
  const hand = new DatabaseSync(home.database);
  hand.exec(sql);
  hand.close();
}

async function startProvider(statusOf: (request: IncomingMessage) => number): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(statusOf(request)).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
