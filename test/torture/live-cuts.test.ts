import { setTimeout as sleep } from "node:timers/promises";

import { expect, it, onTestFinished } from "vitest";

import { createClient } from "../../src/client/client.ts";
import { isFinal } from "../../src/core/exchanges.ts";
import { createSession } from "../../src/store/records/sessions/create.ts";
import type { Store } from "../../src/store/store.ts";
import { type BreakingProxy, startBreakingProxy } from "../helpers/breaking-proxy.ts";
import { describeEngines } from "../helpers/engines.ts";
import { liveOf } from "../helpers/live.ts";
import type { Running } from "../helpers/process.ts";
import { randomOf, seedOf } from "../helpers/random.ts";
import { startScriptedProvider, type Step } from "../helpers/scripted-provider.ts";
import { testSize } from "../helpers/size.ts";
import { startProgram } from "../helpers/start-program.ts";
import { createStrictReader } from "../helpers/strict-live-reader.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { pick, someText } from "../http/live/live-world.ts";
import { until } from "./exchanges/until.ts";

const CUTS = testSize("live-cuts");
const SESSIONS = 3;
const READERS = 2;
const NODES = 2;
const CUTS_PER_KILL = 60;
const TOKEN = "a-token";

/** What a model streams: text cut anywhere, also within a character; it breaks off now and then. */
function answerSteps(random: () => number, body: string): Step[] {
  let at = 0;
  const steps: Step[] = [];
  const text = someText(random, 200);
  for (let from = 0; from < text.length;) {
    const to = from + 1 + Math.floor(random() * 6);
    at += random() < 0.3 ? random() * 12 : 0;
    steps.push({ kind: "text", text: text.slice(from, to) });
    steps.push({ kind: "wait", until: sleep(at) });
    from = to;
  }
  const luck = random();
  if (luck < 0.2) {
    return [...steps.slice(0, random() * steps.length), { kind: "drop" }];
  }
  if (luck < 0.25) {
    return [{ kind: "status", status: 503 }];
  }
  const { messages } = JSON.parse(body) as { messages: readonly { readonly role: string }[] };
  const mayCall = messages.at(-1)?.role === "user";
  return mayCall && luck < 0.6
    ? [...steps, { kind: "call", name: "list_files", args: '{"path":"."}', size: 3 }]
    : steps;
}

interface Node {
  readonly url: string;
  readonly running: Running;
}

/** The nodes of a service: one is killed while it runs exchanges, and another one takes its place. */
async function startNodes(start: () => Running) {
  const nodes: Node[] = [];
  let killed = 0;
  const add = async (): Promise<void> => {
    const running = start();
    const [, url = ""] = await running.waitFor(/^listening on (\S+)$/m);
    nodes.push({ url, running });
  };
  for (let count = 0; count < NODES; count += 1) {
    await add();
  }
  return {
    killed: () => killed,
    any: (random: () => number) => pick(random, nodes),
    /** Not the one that was read before. */
    after: (url: string) => (nodes.find((node) => node.url !== url) ?? nodes[0])?.url ?? "",
    kill: async (random: () => number): Promise<void> => {
      const node = pick(random, nodes);
      nodes.splice(nodes.indexOf(node), 1);
      await node.running.stop("SIGKILL");
      killed += 1;
      await add();
    },
    stop: async (): Promise<void> => {
      for (const { running } of nodes) {
        expect((await running.stop("SIGTERM")).stderr).toBe("");
      }
    },
  };
}

function readAll(proxy: BreakingProxy, id: string) {
  const reader = createStrictReader();
  const seen = { texts: 0, resets: 0 };
  const client = createClient({ baseUrl: proxy.url, token: TOKEN });
  const read = async (): Promise<void> => {
    const options = { afterSeq: 0, pauseMs: { first: 1, longest: 20 } };
    for await (const event of client.live(id, options)) {
      seen.texts += event.event === "text" ? 1 : 0;
      seen.resets += event.event === "reset" ? 1 : 0;
      reader.take(event);
    }
  };
  return { reader, seen, ended: read() };
}

async function isIdle(store: Store, id: string): Promise<boolean> {
  const { exchange } = await liveOf(store, id);
  return exchange === null || isFinal(exchange.state);
}

describeEngines("readers whose connections break", (engine) => {
  it(`[LIVE-31] have the stored text after ${CUTS} cuts, whatever the model, its callers and its nodes do`, async () => {
    const random = randomOf(seedOf(`live cuts (${engine.name})`));
    const database = await engine.create();
    const store = await database.open();
    const provider = await startScriptedProvider("openai", (_, body) => answerSteps(random, body));
    onTestFinished(() => provider[Symbol.asyncDispose]());
    let isCalm = false;
    await using stack = new AsyncDisposableStack();
    /** One for each reader: each connection of it leads to another node than the one before. */
    const proxies: BreakingProxy[] = [];
    while (proxies.length < SESSIONS * READERS) {
      let url = "";
      const proxy = await startBreakingProxy({
        target: () => (url = nodes.after(url)),
        random,
        get meanBytes() {
          return isCalm ? 1e9 : 4000;
        },
        stallMs: 5,
      });
      proxies.push(stack.use(proxy));
    }
    const options = {
      name: "live",
      effects: "",
      token: TOKEN,
      arm: "",
      toolMs: 0,
      allowHosts: proxies.map(({ url }) => new URL(url).host),
      storeMs: 20,
      retryDelayMs: 10,
    };
    const nodes = await startNodes(() =>
      startProgram("queue-node.ts", [database.location, JSON.stringify(options)], {
        env: provider.env,
      }),
    );
    const cuts = (): number =>
      proxies.flatMap(({ breaks }) => Object.values(breaks)).reduce((sum, each) => sum + each, 0);

    const failures: unknown[] = [];
    const sessions = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, index) => {
        const { id } = await store.write(createSession, { repo_path: temporaryFolder() });
        const readers = proxies
          .slice(index * READERS, (index + 1) * READERS)
          .map((proxy) => readAll(proxy, id));
        for (const { ended } of readers) {
          ended.catch((error: unknown) => failures.push(error));
        }
        return { id, readers };
      }),
    );
    const isOver = (): boolean => cuts() >= CUTS || failures.length > 0;
    /** Of a node that may be killed before it answers. */
    const attempt = async (call: (client: ReturnType<typeof createClient>) => Promise<unknown>) => {
      const { url } = nodes.any(random);
      await call(createClient({ baseUrl: url, token: TOKEN })).catch(() => undefined);
    };
    const converse = async (id: string): Promise<void> => {
      while (!isOver()) {
        await attempt((client) => client.queueExchange(id, someText(random, 20)));
        if (random() < 0.3) {
          await sleep(random() * 300);
          const n = (await liveOf(store, id)).exchange?.n ?? 0;
          await attempt((client) => client.stopExchange(id, n));
        }
        await until("an exchange ends", async () => isOver() || (await isIdle(store, id)));
      }
    };
    const killNodes = async (): Promise<void> => {
      for (let next = CUTS_PER_KILL / 4; !isOver(); next += CUTS_PER_KILL) {
        await until("connections are cut", () => isOver() || cuts() >= next);
        await nodes.kill(random);
      }
    };
    await Promise.all([killNodes(), ...sessions.map(({ id }) => converse(id))]);
    expect(failures).toEqual([]);
    isCalm = true;

    const seen = { texts: 0, resets: 0 };
    for (const { id, readers } of sessions) {
      await until("all exchanges end", () => isIdle(store, id));
      const client = createClient({ baseUrl: nodes.after(""), token: TOKEN });
      await client.endSession(id);
      const page = { after_seq: 0, max_rows: 100_000, max_bytes: 1e9 };
      const { messages } = await liveOf(store, id, page);
      for (const { reader, ended, ...each } of readers) {
        await ended;
        seen.texts += each.seen.texts;
        seen.resets += each.seen.resets;
        expect([...reader.texts]).toEqual([]);
        const received = new Map(reader.messages.map(({ seq, content }) => [seq, content]));
        expect([...received]).toEqual(messages.map(({ seq, content }) => [seq, content]));
      }
    }
    console.log(
      `${cuts()} cuts, ${seen.texts} texts, ${seen.resets} resets, ${nodes.killed()} kills`,
    );
    expect(seen.texts).toBeGreaterThan(0);
    // few cuts may leave out what is rare
    expect(seen.resets).toBeGreaterThan(CUTS < 150 ? -1 : 0);
    await nodes.stop();
  });
});
