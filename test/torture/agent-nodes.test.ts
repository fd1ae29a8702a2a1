import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { homeOfNodes, startNode } from "../helpers/service-node.ts";

const SLOW = fileURLToPath(new URL("../fixtures/agents/slow.js", import.meta.url));

it("[CLI-181] [CLI-182] a node of an agent runs its sessions, and gives back what it runs when it stops", async () => {
  const home = homeOfNodes();
  const front = await startNode(home, ["--jobs", "0"]);
  const { id } = await front.client.createSession();
  const waits = { env: { SLOW_AGENT_WAITS: "1" } };
  const first = await startNode(home, ["--agent", SLOW], waits);
  expect(await front.post(id, "wait")).toMatchObject({ runnable: true });
  const contents = async () =>
    (await front.client.getSession(id)).messages.map(({ content }) => content);
  while ((await contents()).length < 2) {
    await sleep(20);
  }
  expect(await first.service.stop("SIGTERM")).toMatchObject({ code: 0 });
  expect(await front.client.getExchange(id, 1)).toMatchObject({ state: "queued" });

  // the built-in agent leaves it alone
  const builtIn = await startNode(home, []);
  const other = await front.client.createSession();
  expect(await front.post(id, "more")).toMatchObject({
    runnable: false,
    command: "reprise serve --port 0 --agent MODULE",
  });
  await front.post(other.id, "hi");
  expect(await front.ended(other.id)).toBe("done");
  expect(await front.client.getExchange(id, 1)).toMatchObject({ state: "queued" });
  await builtIn.service.stop("SIGTERM");

  const second = await startNode(home, ["--agent", SLOW]);
  expect(await front.ended(id, 2)).toBe("done");
  expect(await contents()).toEqual([
    "wait",
    "working",
    "answered wait",
    "more",
    "working",
    "answered more",
  ]);
  expect(await second.service.stop("SIGTERM")).toMatchObject({ code: 0 });
  expect((await home.call(["sessions", "verify"])).code).toBe(0);
});
