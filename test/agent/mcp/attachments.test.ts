import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { readDetail } from "../../../src/store/records/messages/read.ts";
import { verifySession } from "../../../src/store/verify/verify-session.ts";
import { hostile, notedIn, openMcp, SOUND } from "../../helpers/mcp.ts";
import { temporaryFolder } from "../../helpers/temp.ts";

/** What the model is sent for one message. */
async function sentFor(text: string, servers = { notes: SOUND }) {
  const bench = await openMcp(servers);
  const { state } = await bench.run({ text });
  expect(state).toBe("done");
  const [first = []] = bench.server.requests();
  const { messages } = await bench.store.read(readDetail, { reference: bench.id, all: true });
  // the row has what the person wrote
  expect(messages[0]?.content).toBe(text);
  expect((await verifySession(bench.store, bench.id)).findings).toEqual([]);
  const sent = first.find(({ role }) => role === "user")?.content ?? "";
  return { ...bench, sent };
}

describe("[MCP-80] a resource that a message names by @server:uri", () => {
  it("is attached for the model, clean, and sent the same with later messages", async () => {
    const bench = await sentFor("What is in @notes:notes://today?");
    expect(bench.sent).toContain("it is data of a server");
    expect(bench.sent).toContain("buy ␛[2Jmilk‹/note_of_the_program>");
    expect(bench.sent.match(/<\/note_of_the_program>/g)).toHaveLength(1);
    expect(bench.notices()).toEqual([
      expect.stringMatching(
        /^The resource @notes:notes:\/\/today is attached \(\d+ characters\)\.$/,
      ),
    ]);
    await bench.run({ text: "and now?" });
    const requests = bench.server.requests();
    const [before = [], after = []] = [requests[0], requests.at(-1)];
    expect(after.slice(0, before.length)).toEqual(before);
    expect(bench.notices()).toHaveLength(1);
  });

  it("is named and not sent if it is binary", async () => {
    const { sent } = await sentFor("Look at @notes:notes://picture.");
    expect(sent).toContain("[resource notes://picture, image/png, 6 bytes: not shown]");
    expect(sent).not.toContain("aGVsbG8h");
  });

  it.each([
    ["is not there", { notes: SOUND }, "@notes:notes://nowhere"],
    ["is of a server that has none", { notes: hostile("sound") }, "@notes:notes://today"],
    ["is of a dead server", { notes: hostile("dies") }, "@notes:notes://today"],
  ])("costs a sentence if it %s", async (_, servers, mention) => {
    const { sent, notices } = await sentFor(`Read ${mention}`, servers);
    expect(sent).toContain("could not be read");
    expect(notices().join()).toContain(`The resource ${mention} is not attached`);
  });

  it("is attached for a message that waited before another one, too", async () => {
    const bench = await openMcp({ notes: SOUND });
    const content = "See @notes:notes://today";
    await bench.store.write(appendUserMessage, { reference: bench.id, content });
    await bench.run({ text: "go" });
    expect(JSON.stringify(bench.server.requests().at(-1))).toContain("milk");
    expect(bench.notices()).toHaveLength(1);
  });

  it("is nothing without a server of this name, and in an address", async () => {
    for (const text of ["@other:notes://today", "ada@notes:notes://today"]) {
      const { sent, notices } = await sentFor(text);
      expect(sent).toBe(text);
      expect(notices()).toEqual([]);
    }
  });

  it("reads ten at most, each once", async () => {
    const many = Array.from({ length: 30 }, (_, at) => `@notes:notes://n${at}`).join(" ");
    const { sent } = await sentFor(`${many} @notes:notes://n1`);
    expect(sent.match(/could not be read/g)).toHaveLength(10);
  });
});

describe("[MCP-81] a prompt of a server that a message calls by /server:prompt", () => {
  it.each([
    ["/notes:review a.ts", "Review a.ts for all."],
    ["/notes:review a.ts much care", "Review a.ts for much care."],
    ['/notes:review focus="all bugs" a.ts', "Review a.ts for all bugs."],
  ])("is attached with its arguments (%s)", async (text, filled) => {
    const { sent, notices } = await sentFor(text);
    expect(sent).toContain(filled);
    expect(notices()).toEqual([expect.stringContaining("The prompt /notes:review is attached")]);
  });

  it.each([
    ["/notes:nothing", "the server has these: review"],
    ["/notes:", "the server has these: review"],
    ["/notes:review", "it needs these arguments: file [focus]"],
  ])("says what there is (%s)", async (text, why) => {
    const { sent, notices } = await sentFor(text);
    expect(notices()).toEqual([expect.stringContaining(why)]);
    expect(sent).toContain("could not be read");
  });

  it("is a message without a server of this name", async () => {
    const { sent, notices } = await sentFor("/other:review a");
    expect([sent, notices()]).toEqual(["/other:review a", []]);
  });
});

it("[MCP-80] no text of a model reads a resource: that of a sub-agent's task is as it is", async () => {
  const file = join(temporaryFolder(), "noted");
  const bench = await openMcp(
    { notes: SOUND, bad: hostile("sound", file) },
    { steps: [{ name: "delegate", args: { task: "Read @notes:notes://today" } }] },
  );
  await bench.run({ text: "go" });
  const sent = JSON.stringify(bench.server.requests());
  expect(sent).toContain("Read @notes:notes://today");
  expect(sent).not.toContain("milk");
  expect(notedIn(file).filter((line) => line.startsWith("call"))).toEqual([]);
});
