import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { createExchanger } from "../../../src/agent/exchange.ts";
import { modelConfig } from "../../../src/rules/models/config.ts";
import { thisProcess } from "../../../src/store/records/leases/this-process.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { startModelServer } from "../../helpers/model-server.ts";
import { seededRandom } from "../../helpers/random.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { TRUSTED } from "../../helpers/trust.ts";
import { testSize } from "../../helpers/size.ts";

it("everything that an exchange writes carries its lease, also what arrives after it was stopped", async () => {
  const random = seededRandom("late-writes");
  const server = await startModelServer({
    latencyMs: 3,
    chunkSize: 10,
    answer: (messages, index) =>
      messages.at(-1)?.role === "tool"
        ? { content: "done ".repeat(20) }
        : {
            toolCalls: ["a", "b", "c"].map((call) => ({
              id: `call_${index}_${call}`,
              name: "list_files",
              arguments: '{"path":"."}',
            })),
          },
  });
  const real = await openSqliteStore({ path: `${temporaryFolder()}/reprise.db` });
  onTestFinished(() => real.close());
  const unfenced: string[] = [];
  const store: Store = {
    ...real,
    // a slow disk: the agent's writes are still on their way when the exchange is stopped
    write: async (operation, input) => {
      if (typeof input === "object" && input !== null && Reflect.get(input, "fence") === null) {
        unfenced.push(operation.name);
      }
      await sleep(random() * 40);
      return real.write(operation, input);
    },
  };
  const exchanger = createExchanger({
    store,
    models: modelConfig({ ...server.env("openai"), REPRISE_MODEL: "openai:gpt-test" }),
    personas: {
      userDir: null,
      builtinDir: fileURLToPath(new URL("../../../personas", import.meta.url)),
      trust: TRUSTED,
    },
    protectedPaths: [],
    owner: thisProcess("test"),
  });
  const repo_path = temporaryFolder();

  for (let round = 0; round < 2 * testSize("stopped"); round += 1) {
    const { id } = await real.write(createSession, { repo_path });
    const stop = new AbortController();
    const stopping = sleep(20 + random() * 200).then(() => stop.abort());
    await exchanger.exchange(
      { session_id: id, text: "hi" },
      { listener: () => undefined, signal: stop.signal },
    );
    await stopping;
  }

  expect(unfenced).toEqual([]);
});
