import { setImmediate as nextTurn } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { createFromOutside } from "../../../src/cli/chat/from-outside.ts";
import { localPrincipal } from "../../../src/core/principal.ts";
import { createConversation } from "../../../src/exchange/conversation.ts";
import { startNode } from "../../../src/exchange/nodes/node.ts";
import { namedFolders } from "../../../src/exchange/served-folders.ts";
import { contextOf } from "../../helpers/call-program.ts";
import { type SentStatements, statementsOf } from "../../helpers/count-statements.ts";
import { type Bench, openBench, SENDS_NOTHING_BY_CLOCK } from "../../helpers/exchanger.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { statesOf } from "../../helpers/queue.ts";
import { startTestServer } from "../../helpers/server.ts";

const TOKEN = "a-token";

async function benchThatAnswers(): Promise<Bench> {
  const server = await startModelServer({ answer: () => ({ content: "answer" }) });
  return openBench(server, {}, SENDS_NOTHING_BY_CLOCK);
}

it("[QUEUE-55] an exchange begins on a node at most 5 transactions after its request came", async () => {
  const bench = await benchThatAnswers();
  const { store, session } = bench;
  const server = await startTestServer({ store, token: TOKEN });
  onTestFinished(() => server[Symbol.asyncDispose]());
  let onStarted = (): void => undefined;
  let onEnded = (): void => undefined;
  const node = await startNode({
    store,
    jobs: 4,
    agent: null,
    folders: namedFolders([bench.repo]),
    openExchanger: () => Promise.resolve(createExchanger(bench.parts)),
    // a commit of this process wakes it
    pollMs: 60_000,
    onEvent: ({ type }) => (type === "started" ? onStarted() : type === "done" ? onEnded() : null),
    onFailure: (error) => {
      throw error;
    },
  });
  onTestFinished(() => node.close());
  const post = async (soFar?: () => SentStatements): Promise<SentStatements | null> => {
    const ended = Promise.withResolvers<void>();
    let atBeginning: SentStatements | null = null;
    onStarted = () => (atBeginning = soFar?.() ?? null);
    onEnded = ended.resolve;
    const { status } = await server.call("POST", `/api/sessions/${session.id}/exchanges`, {
      body: { content: "question" },
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(status).toBe(202);
    await ended.promise;
    return atBeginning;
  };
  let atPost = 0;
  let sent: SentStatements | null = null;
  await statementsOf(async (soFar) => {
    // the first exchange of a session stores more
    await post();
    // after it, the node searches for more
    while (node.running > 0 || !/\bis_settled\b/.test(soFar().statements.at(-1) ?? "")) {
      await nextTurn();
    }
    atPost = soFar().transactions;
    sent = await post(soFar);
  });

  expect(sent).not.toBeNull();
  const { transactions, statements } = sent!;
  expect(transactions - atPost, statements.join("\n")).toBeLessThanOrEqual(5);
  expect(await statesOf(store, session.id)).toEqual(["done", "done"]);
});

it("[CLI-313] an exchange at a terminal takes at most 50 statements in 7 transactions, and reads once what came over HTTP", async () => {
  const bench = await benchThatAnswers();
  const { store, session } = bench;
  const conversation = createConversation({
    config: { ...bench.parts, env: {} },
    openExchanger: () => Promise.resolve(createExchanger(bench.parts)),
    agent: null,
    start: { kind: "existing", session },
    whenBusy: "refuse",
    principal: localPrincipal("terminal", "ada@host"),
    confirmation: createFromOutside({
      cli: contextOf([], { script: "", cwd: bench.repo, env: {} }).cli,
      store,
      accept: false,
      isOwn: () => Promise.resolve(true),
    }),
  });
  const live = { listener: () => undefined, signal: new AbortController().signal };
  await conversation.send("one", live);

  const { statements, transactions } = await statementsOf(() => conversation.send("two", live));

  expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(50);
  expect(transactions).toBeLessThanOrEqual(7);
  // the message of the exchange is stored and read by the transaction that begins it
  const asked = statements.filter((sql) => /^select\b.*"origin" = [?$]/s.test(sql));
  expect(asked, asked.join("\n")).toHaveLength(1);
});
