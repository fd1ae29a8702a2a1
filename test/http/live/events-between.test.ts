import { expect, it } from "vitest";

import {
  positionAfter,
  readPosition,
  writePosition,
} from "../../../src/core/live/live-position.ts";
import { cursorAt, eventsBetween } from "../../../src/exchange/live/events-between.ts";
import { randomOf, seedOf } from "../../helpers/random.ts";
import { createStrictReader } from "../../helpers/strict-live-reader.ts";
import { createWorld, pick, someText } from "./live-world.ts";

it("[LIVE-24] texts of a message are its content, whatever is cut and whichever node is read", () => {
  const seed = seedOf("live events");
  for (let run = 0; run < 300; run += 1) {
    const random = randomOf(seed + run);
    const world = createWorld(random);
    const reader = createStrictReader();
    let id = writePosition(positionAfter(0));
    let cursor = cursorAt(positionAfter(0));
    let isRunning = true;
    const read = (rows: number, cutAt: number): boolean => {
      const step = eventsBetween(cursor, world.view(cursor.position, isRunning, rows));
      const received = step.events.slice(0, cutAt);
      for (const event of received) {
        reader.take(event);
        ({ id } = event);
      }
      cursor = step.cursor;
      if (received.length < step.events.length) {
        const position = readPosition(id);
        expect(position, id).not.toBeNull();
        cursor = cursorAt(position!);
        isRunning = random() < 0.5;
      }
      return received.length < step.events.length;
    };
    try {
      for (let action = 0; action < 400; action += 1) {
        world.act();
        if (random() < 0.6) {
          read(1 + Math.floor(random() * 3), random() < 0.3 ? Math.floor(random() * 4) : 100);
        }
      }
      world.finish();
      while (read(2, 100) || cursor.position.seq < world.messages.length) {
        // until it has all
      }
      read(2, 100);
      expect([...reader.texts]).toEqual([]);
      const contents = ({ content, seq }: { content: string; seq: number }) => `${seq} ${content}`;
      expect(reader.messages.map(contents)).toEqual(world.messages.map(contents));
      expect(reader.exchange()).toMatchObject({ state: "done" });
    } catch (error) {
      throw new Error(`run ${run} of seed ${seed}`, { cause: error });
    }
  }
});

it("[LIVE-21] an id holds its position in one form, and nothing else is one", () => {
  const random = randomOf(seedOf("live positions"));
  const number = () => pick(random, [0, 1, 7, 2 ** 31, 999_999_999_999_999]);
  for (let run = 0; run < 500; run += 1) {
    const message_id = pick(random, ["-", "a", "run-1.2", "\u{1f600}", "% ", someText(random, 9)]);
    const position = {
      seq: number(),
      n: number(),
      attempt: number(),
      offset: number(),
      checksum: Math.floor(random() * 2 ** 32),
      revision: number(),
      message_id,
    };
    const id = writePosition(position);
    expect(id).toMatch(/^[\x21-\x7e]+$/);
    expect(readPosition(id)).toEqual(position);
  }
  const good = "1.2.3.4.0000abcd.5.run-1";
  expect(readPosition(good)).not.toBeNull();
  for (const bad of [
    "",
    "1",
    "-",
    "1.2.3.4.5.6",
    `${good}\n`,
    ` ${good}`,
    `0${good}`,
    `-${good}`,
    `1${good.toUpperCase()}`,
    "1.2.3.4.0000abcd.5.",
    "1.2.3.4.0000abcd.5.%",
    "1.2.3.4.0000abcd.5.%6",
    "1.2.3.4.0000abcd.5.a b",
    "1.2.3.4.0000abcd.5.%61",
    "1.2.3.4.0000abcd.5.%ff",
    "1.2.3.4.0000abcd.5.-",
    "1.2.3.4.abcd.5.a",
    "1e1.2.3.4.0000abcd.5.a",
    "1234567890123456.2.3.4.0000abcd.5.a",
    "1.2.3.4.0000abcd.5.a\0",
    "1.2.3.4.0000abcd.5.é",
    `1.2.3.4.0000abcd.5.${"a".repeat(5000)}`,
  ]) {
    expect(readPosition(bad), bad).toBeNull();
  }
});
