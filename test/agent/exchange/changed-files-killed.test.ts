import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { PERMISSION_MODES } from "../../../src/core/permissions.ts";
import { answerQuestion } from "../../../src/store/records/questions/answer.ts";
import { listOpenQuestions } from "../../../src/store/records/questions/read.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { readSession } from "../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { createDatabase } from "../../helpers/database.ts";
import {
  type ModelAnswer,
  type ModelServer,
  type SentMessage,
  startModelServer,
} from "../../helpers/model-server.ts";
import { openStoreAt } from "../../helpers/open-store.ts";
import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { startProgram } from "../../helpers/start-program.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** Kills; see `npm run torture`. */
const KILLS = testSize("changed-files");
const FILES = Array.from({ length: 8 }, (_, at) => `f${at}.txt`);

it("[EXCHANGE-45] no file that a person changes is overwritten by an exchange that is killed and continued, in any mode", async () => {
  const random = seededRandom("changed-files");
  const empty = await createDatabase();
  onTestFinished(() => empty[Symbol.asyncDispose]());
  const store = await openStoreAt(empty.location);
  onTestFinished(() => store.close());
  const server = await startModelServer({ chunkSize: 400, answer: answerOf });
  const counts = { rounds: 0, killed: 0, changed: 0, changedByAgent: 0, refused: 0 };
  const lost: string[] = [];
  while (counts.killed < KILLS) {
    const mode = PERMISSION_MODES[counts.rounds % PERMISSION_MODES.length];
    counts.rounds += 1;
    const repo = temporaryFolder();
    const { id } = await store.write(createSession, { repo_path: repo, permission: mode });
    const round = { store, server, random, id, repo, location: empty.location };
    const before = server.requests().length;
    const { killed, persons } = await live(round, counts.rounds);
    counts.killed += killed;
    counts.changed += persons.size;
    const sent = JSON.stringify(server.requests().slice(before));
    for (const file of FILES) {
      const text = contentOf(repo, file);
      const person = persons.get(file);
      // what the model has read since, it may change
      if (
        person !== undefined &&
        text !== person &&
        !sent.includes(person.slice(0, person.indexOf("\n")))
      ) {
        lost.push(`round ${counts.rounds}, ${mode}: ${file} holds ${text}`);
      }
      counts.changedByAgent += text === null || text.includes("agent") ? 1 : 0;
    }
    const last = JSON.stringify(server.requests().at(-1));
    counts.refused += last.split("file_changed: f").length - 1;
    expect((await verifySession(store, id)).findings).toEqual([]);
  }
  console.log(`changed-files: ${JSON.stringify({ ...counts, lost: lost.length })}`);
  expect(lost).toEqual([]);
  expect(counts.changed).toBeGreaterThan(0);
});

interface Round {
  readonly store: Store;
  readonly server: ModelServer;
  readonly random: () => number;
  readonly id: string;
  readonly repo: string;
  readonly location: string;
}

/** Runs one exchange, which is killed up to three times, until it has ended. */
async function live(round: Round, number: number) {
  const { store, server, random, id, repo, location } = round;
  for (const file of FILES) {
    writeFileSync(join(repo, file), `base ${file}\nend\n`);
  }
  const persons = new Map<string, string>();
  const change = (part: number): void => {
    for (const file of FILES.filter(() => random() < part)) {
      const text = `person ${number} ${file} ${persons.size}\n`.repeat(
        1 + Math.floor(random() * 3),
      );
      writeFileSync(join(repo, file), text);
      persons.set(file, text);
    }
  };
  let killed = 0;
  let text = `go ${number}`;
  for (let run = 0; run < 20; run += 1) {
    const asked = server.requests().length;
    const program = startProgram("exchange-ask.ts", [location, id, text, join(repo, "log")], {
      env: { ...server.env("openai"), REPRISE_MODEL: "openai:test" },
    });
    let ended = false;
    void program.finished.then(() => (ended = true));
    if (killed < 3) {
      const until = asked + (run === 0 ? 2 : 0);
      while (!ended && server.requests().length < until) {
        await sleep(2);
      }
      await sleep(random() * (run === 0 ? 60 : 900));
      change(run === 0 ? 0.2 : 0.1);
      await sleep(random() * 30);
      killed += (await program.stop("SIGKILL")).code === null ? 1 : 0;
      change(0.3);
    } else {
      await program.finished;
    }
    text = (await hasMessage(store, id)) ? "" : text;
    await answerAll(store, id);
    change(0.1);
    if (text === "" && (await store.read(readSession, { id })).activity === "idle") {
      return { killed, persons };
    }
  }
  throw new Error("the exchange does not end");
}

async function hasMessage(store: Store, id: string): Promise<boolean> {
  return (await store.read(readSession, { id })).last_seq > 0;
}

async function answerAll(store: Store, id: string): Promise<void> {
  for (const { id: question } of await store.read(listOpenQuestions, { reference: id })) {
    await store.write(answerQuestion, {
      reference: id,
      question,
      given: { choice: "allow_once" },
      note: null,
      answered_by: "http",
      continues: true,
    });
  }
}

function contentOf(repo: string, file: string): string | null {
  const path = join(repo, file);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

/** Reads all files in one answer, changes all in the next, each tool two of them, and then ends. */
function answerOf(messages: readonly SentMessage[]): ModelAnswer {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const answers = messages.slice(at).filter(({ role }) => role === "assistant").length;
  const round = messages[at]?.content ?? "";
  const call = (name: string, index: number, args: object) => ({
    id: `${round} ${answers} ${index}`,
    name,
    arguments: JSON.stringify(args),
  });
  if (answers === 0) {
    return { toolCalls: FILES.map((path, index) => call("read_file", index, { path })) };
  }
  if (answers > 1) {
    return { content: "done" };
  }
  const old_text = (path: string) => `base ${path}`;
  const patch = (...lines: string[]) => ({
    patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n"),
  });
  const edits = FILES.slice(4, 6).map((path) => ({
    path,
    old_text: old_text(path),
    new_text: "agent",
  }));
  return {
    toolCalls: [
      ...FILES.slice(0, 2).map((path, at) => call("write_file", at, { path, content: "agent\n" })),
      ...FILES.slice(2, 4).map((path, at) =>
        call("edit_file", 2 + at, { path, old_text: "end", new_text: "agent" }),
      ),
      call("multi_edit", 4, { edits }),
      call("apply_patch", 5, patch("*** Delete File: f6.txt")),
      call("apply_patch", 6, patch("*** Update File: f7.txt", "-end", "+agent")),
    ],
  };
}
