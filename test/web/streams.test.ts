import { expect, it } from "vitest";

import { randomOf, seedOf } from "../helpers/random.ts";
import { testSize } from "../helpers/size.ts";
import { createTabs, type Tab } from "./tabs.ts";

const LOCKS = [
  { hasLocks: true, locks: "the browser's locks" },
  { hasLocks: false, locks: "no locks" },
];

it.each(LOCKS)(
  "[PAGE-41] with $locks, each tab gets each message once, in order, whichever tab reads",
  async ({ hasLocks }) => {
    const seed = seedOf(`tabs with ${hasLocks}`);
    const runs = testSize("page-tabs");
    for (let run = 0; run < runs; run += 1) {
      try {
        await runTabs(randomOf(seed + run), hasLocks);
      } catch (error) {
        throw new Error(`run ${run} of seed ${seed}`, { cause: error });
      }
    }
  },
);

async function runTabs(random: () => number, hasLocks: boolean): Promise<void> {
  const all = createTabs({ random, hasLocks });
  const { world } = all;
  const tabs: Tab[] = [all.newTab()];
  const choose = (count: number): number => Math.floor(random() * count);
  const aTab = (): Tab | undefined => tabs[choose(tabs.length)];
  const actions: readonly (readonly [number, () => void])[] = [
    [40, all.act],
    [40, () => void all.deliver(choose)],
    [10, () => all.advance(random() * 1000)],
    [2, () => all.advance(4000)],
    [3, () => void (tabs.length < 5 && tabs.push(all.newTab()))],
    [3, () => aTab()?.hide()],
    [4, () => aTab()?.show()],
    [1, () => tabs.splice(choose(tabs.length), 1)[0]?.close()],
    [2, all.cut],
    [1, () => all.setAway(true)],
    [3, () => all.setAway(false)],
  ];
  const weights = actions.reduce((sum, [weight]) => sum + weight, 0);
  for (let step = 0; step < 800; step += 1) {
    let at = random() * weights;
    const found = actions.find(([weight]) => (at -= weight) < 0);
    found?.[1]();
    await all.settle();
  }
  const isFinished = random() < 0.5;
  if (isFinished) {
    all.finish();
  }
  tabs.push(all.newTab());
  all.setAway(false);
  all.quiet();
  for (const tab of tabs) {
    tab.show();
  }
  for (let round = 0; round < 40; round += 1) {
    await all.settle();
    while (all.deliver(choose)) {
      await all.settle();
    }
    all.advance(1000);
  }
  const { live } = world.view({ seq: 0, message_id: null }, true, 0);
  // between two answers, the service leaves open whether the text that arrived last will be stored: tabs that share a
  // stream show the same of it, and one that reads for itself what had arrived when its stream was cut
  const shown = tabs.map((tab) => tab.state()?.text?.text ?? "");
  const longest = shown.toSorted((a, b) => b.length - a.length)[0] ?? "";
  const isOpen = live?.message_id === null;
  expect(hasLocks ? new Set(shown).size : 1).toBe(1);
  for (const tab of tabs) {
    check(tab, world.messages);
    expect(tab.errors).toEqual([]);
    expect(tab.status()).toEqual({ kind: "live" });
    expect(tab.state()?.seq).toBe(world.messages.length);
    const text = tab.state()?.text?.text ?? "";
    expect(isOpen && longest.startsWith(text) ? live.text : text).toBe(live?.text ?? "");
  }
  // without locks each tab reads for itself
  expect(all.openNow()).toBe(hasLocks ? 1 : tabs.length);
  if (hasLocks) {
    expect(all.mostOpen()).toBeLessThanOrEqual(2);
  }
}

/** What one tab was given: a snapshot, then each message after it. */
function check({ received }: Tab, messages: readonly { seq: number; content: string }[]): void {
  const [first, ...rest] = received;
  expect(first?.event).toBe("snapshot");
  let last = first?.event === "snapshot" ? first.data.last_seq : -1;
  const texts = new Map<string, string>();
  const begin = (text: { message_id: string; text: string } | null): void => {
    texts.clear();
    if (text !== null) {
      texts.set(text.message_id, text.text);
    }
  };
  begin(first?.event === "snapshot" ? first.data.text : null);
  for (const { id, event, data } of rest) {
    if (event === "snapshot") {
      expect(data.last_seq).toBe(last);
      expect(data.text?.offset ?? 0).toBe(0);
      begin(data.text);
    } else if (event === "text") {
      texts.set(data.message_id, (texts.get(data.message_id) ?? "") + data.text);
    } else if (event === "reset") {
      texts.delete(data.message_id);
    } else if (event === "message") {
      last += 1;
      expect(data.seq).toBe(last);
      expect(data.content).toBe(messages[last - 1]?.content);
      // the rest of the text of a message that the tab missed did not come
      if (id !== "") {
        expect(texts.get(data.message_id) ?? data.content).toBe(data.content);
      }
      texts.delete(data.message_id);
    }
  }
}
