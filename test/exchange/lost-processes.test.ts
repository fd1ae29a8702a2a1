import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { OUTCOME_UNKNOWN } from "../../src/core/text/outcome-unknown.ts";
import { isFinal, MAX_ATTEMPTS } from "../../src/core/exchanges.ts";
import type { ExchangeRecord } from "../../src/core/sessions.ts";
import { readExchange } from "../../src/store/records/exchanges/read.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { describeEngine } from "../helpers/engines.ts";
import { type ModelAnswer, type SentMessage, startModelServer } from "../helpers/model-server.ts";
import { queue } from "../helpers/queue.ts";
import { startProgram } from "../helpers/start-program.ts";
import { temporaryFolder } from "../helpers/temp.ts";

describeEngine("an exchange that takes processes with it", (engine) => {
  it("[QUEUE-52] ends as done after any number of processes, if its models answer in between", async () => {
    const kills = MAX_ATTEMPTS + 1;
    const { killAt, finish, server } = await openBench((messages) => {
      const results = messages.filter(({ role }) => role === "tool").length;
      const pay = { name: "pay", arguments: JSON.stringify({ what: `bill ${results}` }) };
      return results < kills ? { toolCalls: [pay] } : { content: "done" };
    });
    for (let kill = 0; kill < kills; kill += 1) {
      // its tool ends each process, and no process runs it again
      await killAt("tool:before");
    }
    expect(await finish()).toMatchObject({ n: 1, state: "done" });
    const results = server.requests().at(-1) ?? [];
    expect(results.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual(
      Array.from({ length: kills }, () => OUTCOME_UNKNOWN),
    );
  });

  it("[QUEUE-52] fails if a call ends each of them that may be run again, beside one that succeeded", async () => {
    const { killAt, finish, server } = await openBench(() => ({
      toolCalls: [
        { name: "list_files", arguments: '{"path":"."}' },
        { name: "delegate", arguments: '{"persona":"assistant","task":"a task"}' },
      ],
    }));
    for (let kill = 0; kill < MAX_ATTEMPTS; kill += 1) {
      await killAt("child:after");
    }
    expect(await finish()).toMatchObject({ state: "failed", error_code: "attempts_used_up" });
    // what had succeeded was not repeated, so it counts once
    expect(server.requests()).toHaveLength(1);
  });

  async function openBench(answer: (messages: readonly SentMessage[]) => ModelAnswer) {
    const { location, open } = await engine.create();
    const store = await open();
    const repo_path = temporaryFolder();
    const { id } = await store.write(createSession, { repo_path, permission: "all" });
    const effects = join(temporaryFolder(), "effects");
    writeFileSync(effects, "");
    const server = await startModelServer({ answer });
    const start = (arm: string) => {
      const options = { name: "node", effects, token: "a-token", arm, toolMs: 0 };
      const env = { ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" };
      return startProgram("queue-node.ts", [location, JSON.stringify(options)], { env });
    };
    await queue(store, id, "a question");
    return {
      server,
      /** Lets a node run the exchange until it is there, and kills it. */
      killAt: async (point: string): Promise<void> => {
        const node = start(point);
        while (!new RegExp(`^at ${point}$`, "m").test(node.stdout())) {
          const { state } = await store.read(readExchange, { reference: id, n: 1 });
          expect(isFinal(state), `${state} before ${point}`).toBe(false);
          await sleep(20);
        }
        await node.stop("SIGKILL");
      },
      /** Lets a node run it until it has ended. */
      finish: async (): Promise<ExchangeRecord> => {
        const node = start("");
        for (;;) {
          const exchange = await store.read(readExchange, { reference: id, n: 1 });
          if (isFinal(exchange.state)) {
            await node.stop("SIGTERM");
            expect((await verifySession(store, id)).findings).toEqual([]);
            return exchange;
          }
          await sleep(20);
        }
      },
    };
  }
});
