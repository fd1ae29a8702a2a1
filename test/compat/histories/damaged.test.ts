import { execFileSync } from "node:child_process";
import {
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";

import { expect, it } from "vitest";

import { PROGRAMS, type Program } from "../../../src/compat/histories/history.ts";
import { readHistories } from "../../../src/compat/histories/read-histories.ts";
import { sessionTreeOf } from "../../../src/compat/histories/session-tree.ts";
import { isRepriseError } from "../../../src/core/errors.ts";
import { inconsistencyOf } from "../../../src/store/portable/consistency.ts";
import { continueImport } from "../../../src/store/portable/histories/continue-import.ts";
import { type SessionTree, sessionsOf } from "../../../src/store/portable/export-schema.ts";
import { verifyTree, withNewIds } from "../../../src/store/portable/import-tree.ts";
import { placeHistory } from "../../helpers/foreign-histories.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { seededRandom } from "../../helpers/random.ts";
import { freshHome } from "../../helpers/reprise.ts";
import { testLevel, testSize } from "../../helpers/size.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

type Damage = (bytes: Buffer, random: () => number) => Buffer;

const DAMAGES: readonly Damage[] = [
  (bytes, random) => bytes.subarray(0, Math.floor(random() * bytes.length)),
  (bytes, random) => bytes.subarray(Math.floor(random() * bytes.length)),
  (bytes, random) => {
    const copy = Buffer.from(bytes);
    for (let count = 0; count < 20; count += 1) {
      copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
    }
    return copy;
  },
  (bytes, random) => {
    const lines = bytes.toString("latin1").split("\n");
    const kept = lines.filter(() => random() < 0.7);
    return Buffer.from(kept.join("\n"), "latin1");
  },
  (bytes, random) => {
    const lines = bytes.toString("latin1").split("\n");
    lines.sort(() => random() - 0.5);
    return Buffer.from(lines.join("\n"), "latin1");
  },
  (bytes, random) => {
    const text = bytes.toString("latin1");
    const values = [
      "null",
      "[]",
      "{}",
      "1e999",
      '"\\u0000\\ud800"',
      "[[[[]]]]",
      '{"lc":1,"type":"secret","id":["X"]}',
    ];
    return Buffer.from(
      text.replace(/"[^"\\]{1,40}"(?=[,}])/g, (found) =>
        random() < 0.05 ? (values[Math.floor(random() * values.length)] ?? found) : found,
      ),
      "latin1",
    );
  },
];

/** Each call has one result right after its answer, but those of the last answer; a person begins. */
function refusedByProviders({ messages }: SessionTree): string | null {
  if (messages[0]?.role !== "user") {
    return "begins with an answer";
  }
  let open: (string | undefined)[] = [];
  for (const { role, tool_calls, call_id } of messages) {
    if (role === "tool") {
      const at = open.indexOf(call_id);
      if (at < 0) {
        return "has a result without its call";
      }
      open.splice(at, 1);
    } else if (open.length > 0) {
      return "has a call without a result";
    } else {
      open = tool_calls?.map(({ id }) => id) ?? [];
    }
  }
  return null;
}

it("[FOREIGN-30] [FOREIGN-31] damaged files are refused with a sentence, or give sessions that verify", async () => {
  const random = seededRandom("foreign-damaged");
  const folder = temporaryFolder();
  await using store = await openStoreAt(join(folder, "store.db"));
  const ends = { stored: 0, refused: 0 };
  for (let round = 0; round < testSize("damaged-histories"); round += 1) {
    const program = PROGRAMS[round % PROGRAMS.length] ?? "pi";
    const home = join(folder, String(round));
    mkdirSync(home);
    const file = placeHistory(program, { home, project: home });
    const damage = DAMAGES[Math.floor(round / PROGRAMS.length) % DAMAGES.length];
    writeFileSync(file, damage?.(readFileSync(file), random) ?? "");
    try {
      for await (const history of readHistories(program, file)) {
        const tree = withNewIds(await sessionTreeOf(history, "2026-11-27T12:00:00.000Z"));
        expect(inconsistencyOf(tree)).toBeNull();
        verifyTree(tree);
        for (const one of sessionsOf(tree)) {
          expect(one.messages.length === 0 ? null : refusedByProviders(one), file).toBeNull();
        }
        await store.write(continueImport, { tree });
        ends.stored += 1;
      }
    } catch (error) {
      if (!isRepriseError(error)) {
        throw error;
      }
      expect(["export_invalid", "file_unreadable"]).toContain(error.code);
      expect(error.message).toMatch(/^The file .*\.$/);
      ends.refused += 1;
    }
  }
  expect(Math.min(ends.stored, ends.refused)).toBeGreaterThan(testSize("damaged-histories") / 20);
});

it("[FOREIGN-32] pipes, devices, folders and circles are refused at once, and never waited for", async () => {
  const folder = temporaryFolder();
  execFileSync("mkfifo", [join(folder, "pipe")]);
  symlinkSync("circle", join(folder, "circle"));
  writeFileSync(join(folder, "empty"), "");
  const home = freshHome();
  for (const program of PROGRAMS) {
    for (const name of ["/dev/zero", "pipe", ".", "circle", "missing", "empty"]) {
      const file = join(name.startsWith("/") ? "" : folder, name);
      const said = await home.call(["sessions", "import", "--from", program, file]);
      expect(said.stderr, `${program} ${name}`).toMatch(
        /^reprise: The file .*\[(?:file_unreadable|export_invalid)\]\n$/,
      );
      expect([said.code, said.stdout]).toEqual([said.code === 2 ? 2 : 1, ""]);
    }
  }
});

it("[FOREIGN-33] broken lines are skipped and reported with their number", async () => {
  const home = freshHome();
  const file = placeHistory("codex", home);
  const lines = readFileSync(file, "utf8").split("\n");
  lines.splice(9, 0, '{"type":');
  writeFileSync(file, lines.join("\n"));
  const said = await home.call(["sessions", "import", "--from", "codex", file]);
  expect([said.code, said.stdout.startsWith("Imported: ")]).toEqual([0, true]);
  expect(said.stderr).toContain(`skipped: ${file}, line 10 is not JSON, or was cut off`);
});

it.skipIf(testLevel() === "test")(
  "[FOREIGN-34] 100,000 lines are read without holding the file in memory",
  async () => {
    const folder = temporaryFolder();
    const file = join(folder, "long.jsonl");
    const out = createWriteStream(file);
    const noise = "x".repeat(3000);
    out.write(
      '{"type":"session","version":3,"id":"long","timestamp":"2026-11-27T12:00:00.000Z","cwd":"/"}\n',
    );
    for (let index = 0; index < 100_000; index += 1) {
      const isSaid = index % 100 === 0;
      const line = {
        type: isSaid ? "message" : "custom",
        id: `i${index}`,
        parentId: index === 0 ? null : `i${index - 1}`,
        noise,
        ...(isSaid
          ? {
              message: {
                role: index % 200 === 0 ? "user" : "assistant",
                content: [{ type: "text", text: `message ${index}` }],
              },
            }
          : {}),
      };
      if (!out.write(`${JSON.stringify(line)}\n`)) {
        await once(out, "drain");
      }
    }
    out.end();
    await once(out, "finish");
    expect(statSync(file).size).toBeGreaterThan(300_000_000);
    const home = freshHome();
    const script = `ulimit -v unlimited; exec env NODE_OPTIONS=--max-old-space-size=200 reprise sessions import --from pi "$0"`;
    const said = await home.startShell(script.replace('"$0"', `'${file}'`)).finished;
    expect([said.stderr.includes("heap"), said.stdout]).toEqual([
      false,
      expect.stringMatching(/^Imported: \S+ {2}1000 messages {2}message 0\n$/),
    ]);
  },
);

it("[FOREIGN-35] a database with a log is read with what is in it, and nothing is written beside it", async () => {
  const home = freshHome();
  const file = placeHistory("opencode", home);
  using writer = new DatabaseSync(file);
  writer.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
  writer.exec(
    "UPDATE part SET data = json_set(data, '$.text', 'In the log.') WHERE data LIKE '%Thanks.%'",
  );
  const folder = join(file, "..");
  const state = () =>
    readdirSync(folder).map((name) => [
      name,
      statSync(join(folder, name), { bigint: true }).mtimeNs,
      readFileSync(join(folder, name)).toString("base64"),
    ]);
  const before = state();
  const { sessions } = await home.json<{ sessions: { id: string }[] }>([
    "sessions",
    "import",
    "--from",
    "opencode",
    file,
    "--json",
  ]);
  expect(state()).toEqual(before);
  expect((await home.call(["sessions", "show", sessions[0]?.id ?? ""])).stdout).toContain(
    "In the log.",
  );
});

it.each(PROGRAMS)(
  "[FOREIGN-5] files of %s stay unchanged, with their times, and nothing is beside them",
  async (program: Program) => {
    const home = freshHome();
    const file = placeHistory(program, home);
    const folder = join(file, "..");
    const state = () =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => [
        name,
        statSync(join(folder, name), { bigint: true }).mtimeNs,
      ]);
    const before = state();
    expect((await home.call(["sessions", "import", "--from", program, file])).code).toBe(0);
    expect(state()).toEqual(before);
  },
);

it("[FOREIGN-36] an import that is killed leaves whole sessions or none, and the next one completes it", async () => {
  const home = freshHome();
  const random = seededRandom("foreign-killed");
  const first = placeHistory("pi", home);
  const text = readFileSync(first, "utf8");
  const { id = "" } = JSON.parse(text.split("\n")[0] ?? "") as { id?: string };
  for (let copy = 0; copy < 40; copy += 1) {
    writeFileSync(first.replace(/[^/]*$/, `${copy}.jsonl`), text.replaceAll(id, `copy-${copy}`));
  }
  const args = ["sessions", "import", "--from", "pi", "--all"];
  for (let kill = 0; kill < 3; kill += 1) {
    const running = home.start(args);
    await sleep(150 + 250 * random());
    running.child.kill("SIGKILL");
    await running.finished;
    const { stdout, code } = await home.call(["sessions", "verify"]);
    const [, sessions = "0", messages = "0"] =
      /(\d+) sessions?, (\d+) messages?/.exec(stdout) ?? [];
    expect([code, Number(messages)]).toEqual([0, 13 * Number(sessions)]);
  }
  expect((await home.call(args)).code).toBe(0);
  expect((await home.call(["sessions", "verify"])).stdout).toContain("41 sessions, 533 messages");
});
