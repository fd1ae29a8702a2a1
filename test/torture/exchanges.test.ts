import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { expect, it } from "vitest";

import { createSession } from "../../src/store/sessions/create.ts";
import { verifySession } from "../../src/store/verify/verify-session.ts";
import { describeEngines } from "../helpers/engines.ts";
import { randomOf, seedOf } from "../helpers/random.ts";
import { freshHome } from "../helpers/reprise.ts";
import { testLevel, testSize } from "../helpers/size.ts";
import { temporaryFolder } from "../helpers/temp.ts";
import { trustFolder } from "../helpers/trust.ts";
import { Clients } from "./exchanges/clients.ts";
import { type Node, Nodes } from "./exchanges/nodes.ts";
import { expectSound, NOTE } from "./exchanges/oracle.ts";
import { heldBy, isOpen, nameOf, readRows } from "./exchanges/rows.ts";

const ROUNDS = testSize("exchanges");
const SESSIONS = testLevel() === "long" ? 100 : 16;
/** Exchanges that wait or run at most before more messages are sent. */
const BACKLOG = 24;

const POINTS = ["post", "claim", "checkpoint", "tool", "result", "release", "revive"].flatMap(
  (name) => [`${name}:before`, `${name}:after`],
);
/** Nodes that have nothing else to do continue an open exchange much sooner. */
const STUCK_MS = 120_000;

/** What a node writes before it freezes at a point. */
const AT = /^at /m;
const ROUNDS_OF_ALL = [...POINTS, "random", "terminate", "suspend"];

describeEngines("a service whose nodes are killed", (engine) => {
  it("answers each message once and in order, and repeats no unsafe call", async () => {
    const random = randomOf(seedOf("exchanges"));
    const { location, open } = await engine.create();
    const store = await open();
    const home = freshHome();
    writeFileSync(join(home.project, NOTE), "a note");
    trustFolder(home.home, home.project);
    const effects = join(temporaryFolder(), "effects");
    writeFileSync(effects, "");
    const sessions: string[] = [];
    for (let index = 0; index < SESSIONS; index += 1) {
      sessions.push((await store.write(createSession, { repo_path: home.project })).id);
    }
    const nodes = new Nodes({ store, location, home, effects });
    const clients = new Clients(nodes, random);
    const sending = new Set<Promise<void>>();
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

    const send = (first?: Node, session = pick(sessions)): void => {
      const task = clients.send(session, first).finally(() => sending.delete(task));
      task.catch(() => undefined);
      sending.add(task);
    };
    const feed = async (): Promise<void> => {
      const open = (await readRows(store)).records.filter(isOpen).length;
      for (let count = open; count < BACKLOG && count < open + 6; count += 1) {
        send();
      }
    };
    let isOver = false;
    const feedAll = async (): Promise<void> => {
      while (!isOver) {
        await feed();
        await sleep(50);
      }
    };
    const untilBusy = async ({ running }: Node): Promise<void> => {
      while (heldBy(await readRows(store), running.pid).length === 0) {
        await sleep(10);
      }
    };
    const untilAtPoint = async (): Promise<void> => {
      while (atPoint() === undefined) {
        await sleep(5);
      }
    };
    const atPoint = () => nodes.alive.find(({ running }) => AT.test(running.stdout()));

    /** One process at a time on SQLite in the first half, then two at once; three on PostgreSQL. */
    const wanted = (round: number): number =>
      engine.name === "postgres" ? 3 : round < ROUNDS / 2 ? 1 : 2;
    const hits = new Map<string, number>();

    const act = async (what: string): Promise<void> => {
      if (what === "suspend") {
        const node = pick(nodes.alive);
        await untilBusy(node);
        // a slow one, so that the frozen one wakes up while its exchange is run elsewhere
        await nodes.suspend(node, () => nodes.start({ latencyMs: 60 }));
        await sleep(random() * 300);
        await nodes.kill(node);
        return;
      }
      if (what === "random" || what === "terminate") {
        const node = pick(nodes.alive);
        await untilBusy(node);
        await sleep(random() * 100);
        if (what === "terminate") {
          await nodes.terminate(node);
          return;
        }
        for (const session of await nodes.kill(node)) {
          // before another node has found what is left there
          send(undefined, session);
        }
        return;
      }
      if (what.startsWith("revive")) {
        // what it ran may have ended by itself, or a node without points may be first
        while (atPoint() === undefined) {
          const victim = pick(nodes.alive);
          await untilBusy(victim);
          for (const node of nodes.alive) {
            nodes.arm(node, node === victim ? "" : what);
          }
          await nodes.kill(victim);
          await nodes.start({ arm: what });
          while (heldBy(await readRows(store), victim.running.pid).length > 0 && !atPoint()) {
            await sleep(10);
          }
          await sleep(100);
        }
      } else {
        const target = pick(nodes.alive.filter(({ hasPoints }) => hasPoints));
        nodes.arm(target, what);
        if (what.startsWith("post")) {
          send(target);
        }
      }
      await untilAtPoint();
      for (const node of nodes.alive) {
        nodes.arm(node, "");
      }
      // several may have reached it
      for (let node = atPoint(); node !== undefined; node = atPoint()) {
        await nodes.kill(node);
      }
    };

    const feeding = feedAll();
    const plan = planOf(ROUNDS, random);
    for (const [round, what] of plan.entries()) {
      while (nodes.alive.length < wanted(round)) {
        const needed = what.includes(":") && !nodes.alive.some(({ hasPoints }) => hasPoints);
        await nodes.start({ hasPoints: needed || random() < 0.6 });
      }
      console.log(`${engine.name}, round ${round}: ${what}`);
      await Promise.race([act(what), feeding]);
      hits.set(what, (hits.get(what) ?? 0) + 1);
      await expectVerified();
      expect(nodes.violations, `round ${round}: ${what}`).toEqual([]);
    }

    isOver = true;
    await Promise.all([nodes.start(), feeding]);
    await Promise.all(sending);
    const continued = new Map<string, number | null>();
    let [last, since] = ["", performance.now()];
    for (;;) {
      const { records } = await readRows(store);
      const failed = records.filter(
        (record) => record.state === "failed" && !continued.has(nameOf(record)),
      );
      for (const record of failed) {
        const { session_id } = record;
        const isLast = !records.some((each) => each.session_id === session_id && isOpen(each));
        const sent = clients.sent.find((each) => nameOf(each) === nameOf(record));
        if (isLast && sent !== undefined) {
          continued.set(nameOf(record), await clients.continueFailed(sent));
        }
      }
      const left = JSON.stringify(records.filter(isOpen));
      since = left === last ? since : performance.now();
      last = left;
      expect(performance.now() - since, `nobody goes on with ${left}`).toBeLessThan(STUCK_MS);
      const isDone = records.every((record) => !isOpen(record) || record.asked_by === "agent");
      if (failed.length === 0 && isDone) {
        break;
      }
      await sleep(20);
    }
    for (const node of nodes.alive) {
      await nodes.terminate(node);
    }
    await expectVerified();
    await expectSound({ store, nodes, sent: clients.sent, continued, effects });
    console.log(
      `exchanges (${engine.name}): ${clients.sent.length} messages, ${nodes.asked.length} requests, ${nodes.all.length} processes; ${[...hits].map(([name, count]) => `${name} ${count}`).join(", ")}`,
    );

    async function expectVerified(): Promise<void> {
      for (const { id } of (await readRows(store)).sessions) {
        expect((await verifySession(store, id)).findings, id).toEqual([]);
      }
    }
  });
});

/** Each kind of round once in a random order, and again. */
function planOf(rounds: number, random: () => number): readonly string[] {
  const plan: string[] = [];
  while (plan.length < rounds) {
    const order = ROUNDS_OF_ALL.map((what) => ({ what, at: random() }));
    plan.push(...order.toSorted((a, b) => a.at - b.at).map(({ what }) => what));
  }
  return plan.slice(0, rounds);
}
