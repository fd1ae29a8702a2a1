import { describe, expect, it, onTestFinished } from "vitest";

import { openPostgresStore } from "../../src/store/engines/postgres/open.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { listExchanges } from "../../src/store/records/exchanges/read.ts";
import { startCuttingProxy } from "../helpers/postgres/cutting-proxy.ts";
import { createPostgres } from "../helpers/postgres.ts";
import { freshHome } from "../helpers/reprise.ts";
import { waitingSession } from "../helpers/waiting-session.ts";

const NOT_FOLLOWED = (what: string) =>
  new RegExp(
    `^Follow the session with: reprise follow \\S+ --database postgres://\\S+\\n` +
      `reprise: The ${what} is stored, so do not send it again\\. Exchange 1 of \\S+ cannot be followed, because the database cannot be read now\\. \\[follow_failed\\]\\n$`,
    "m",
  );

describe("a database that goes away once it has stored a message", () => {
  it.each(["", " --supersede"])(
    "[HTTP-235] [CLI-306] send%s reports the message as stored",
    async (option) => {
      const { call, states } = await openSession();

      const { code, stdout } = await call("send", "once", ...words(option));

      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^Queued: exchange 1 of \S+\n$/),
      });
      expect(await states()).toEqual(["queued"]);
    },
  );

  it("[HTTP-235] [CLI-306] send --json prints the exchange", async () => {
    const { call, states } = await openSession();

    const { code, stdout } = await call("send", "once", "--json");

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ n: 1, state: "queued", runnable: false });
    expect(await states()).toEqual(["queued"]);
  });

  it.each(["", " --json=events"])(
    "[CLI-306] send --follow%s says that it is stored, and that following failed",
    async (option) => {
      const { call, states } = await openSession();

      const { code, stderr } = await call("send", "once", "--follow", ...words(option));

      expect(code).toBe(1);
      expect(stderr).toMatch(option === "" ? NOT_FOLLOWED("message") : /"follow_failed"/);
      expect(await states()).toEqual(["queued"]);
    },
  );

  it("[CLI-306] send --follow --json prints the exchange that is stored", async () => {
    const { call, states } = await openSession();

    const { code, stdout, stderr } = await call("send", "once", "--follow", "--json");

    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ n: 1, state: "queued" });
    expect(lastLine(stderr)).toMatchObject({ code: "follow_failed" });
    expect(await states()).toEqual(["queued"]);
  });
});

describe("a database that goes away once it has stored an answer", () => {
  it.each(["", " --json"])(
    "[CLI-306] sessions answer%s reports the answer as stored",
    async (option) => {
      const { call, questions } = await openQuestion();

      const { code, stdout } = await call("sessions answer", "blue", ...words(option));

      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(
          option === "" ? /^Answered: question \S+ of \S+\n$/ : /"answer":"blue"/,
        ),
      });
      expect(await questions()).toEqual([{ state: "answered", answer: "2" }]);
    },
  );

  it("[CLI-306] sessions answer --follow says that it is stored, and that following failed", async () => {
    const { call, questions } = await openQuestion();

    const { code, stderr } = await call("sessions answer", "blue", "--follow");

    expect(code).toBe(1);
    expect(stderr).toMatch(NOT_FOLLOWED("answer"));
    expect(await questions()).toEqual([{ state: "answered", answer: "2" }]);
  });

  it("[CLI-306] sessions answer --follow --json prints the exchange that is continued", async () => {
    const { call, questions } = await openQuestion();

    const { code, stdout, stderr } = await call("sessions answer", "blue", "--follow", "--json");

    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ n: 1, state: "waiting" });
    expect(lastLine(stderr)).toMatchObject({ code: "follow_failed" });
    expect(await questions()).toEqual([{ state: "answered", answer: "2" }]);
  });
});

async function openDatabase() {
  const database = await createPostgres();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const store = await openPostgresStore({ url: database.url });
  onTestFinished(() => store.close());
  return { store, url: database.url };
}

/** Runs a command on a session, with a database that is away after its first write. */
async function callerOf(url: string, id: string) {
  const home = freshHome();
  const proxy = await startCuttingProxy(url);
  proxy.refuseAfterWrite();
  return (command: string, ...args: readonly string[]) =>
    home.call([...command.split(" "), id, ...args, "--database", proxy.url]);
}

async function openSession() {
  const { store, url } = await openDatabase();
  const { id } = await store.write(createSession, { permission: "all" });
  return {
    call: await callerOf(url, id),
    states: async () => {
      const records = await store.read(listExchanges, { reference: id, limit: 9 });
      return records.map(({ state }) => state);
    },
  };
}

async function openQuestion() {
  const { store, url } = await openDatabase();
  const { id } = await waitingSession(store, ["red", "blue"]);
  return {
    call: await callerOf(url, id),
    questions: () =>
      store.read(
        ({ db }) => db.selectFrom("questions").select(["state", "answer"]).execute(),
        null,
      ),
  };
}

function words(text: string): string[] {
  return text.split(" ").filter((word) => word !== "");
}

function lastLine(text: string): unknown {
  return JSON.parse(text.trim().split("\n").at(-1) ?? "null");
}
