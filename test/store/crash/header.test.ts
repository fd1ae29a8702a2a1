import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { isRepriseError } from "../../../src/core/errors.ts";
import { appendUserMessage } from "../../../src/store/records/messages/append.ts";
import { createSession } from "../../../src/store/records/sessions/create.ts";
import { openSqliteStore } from "../../../src/store/engines/sqlite/open.ts";
import { seededRandom } from "../../helpers/random.ts";
import { testSize } from "../../helpers/size.ts";
import { temporaryFolder } from "../../helpers/temp.ts";
import { contentOf } from "../../helpers/content.ts";

/** Bytes of a database's header, each of which a bad disk may change. */
const HEADER = 100;

describe("a database file in whose header one bit is wrong", () => {
  it("[STORE-32] is complete or is refused in a sentence and not changed", async () => {
    const random = seededRandom("header");
    const path = await filledDatabase();
    const whole = readFileSync(path);
    const content = contentOf(path);
    const outcomes = { opened: 0, refused: 0 };

    const bits = Array.from({ length: HEADER * 8 }, (_, bit) => bit);
    for (const bit of bits.filter(() => random() * 8 < testSize("header"))) {
      const image = Buffer.from(whole);
      const byte = Math.floor(bit / 8);
      image[byte] = (image[byte] ?? 0) ^ (1 << (bit % 8));
      writeFileSync(path, image);
      const code = await openAndClose(path);
      if (code === null) {
        expect({ bit, content: contentOf(path) }).toEqual({ bit, content });
        outcomes.opened += 1;
      } else {
        expect({ bit, code }).toEqual({
          bit,
          code: expect.stringMatching(/^database_(corrupt|foreign|newer)$/),
        });
        expect(readFileSync(path).equals(image)).toBe(true);
        outcomes.refused += 1;
      }
      for (const side of ["-wal", "-shm", "-journal"]) {
        rmSync(path + side, { force: true });
      }
    }

    // half of the header means nothing to a reader, such as the version of SQLite that wrote it
    expect(outcomes.refused).toBeGreaterThan(20);
    expect(outcomes.opened).toBeGreaterThan(20);
  });
});

async function filledDatabase(): Promise<string> {
  const path = join(temporaryFolder(), "reprise.db");
  await using store = await openSqliteStore({ path });
  const { id } = await store.write(createSession, {});
  for (const content of ["one", "two"]) {
    await store.write(appendUserMessage, { reference: id, content });
  }
  return path;
}

/** The code of the refusal; null for a database that could be opened. */
async function openAndClose(path: string): Promise<string | null> {
  try {
    await (await openSqliteStore({ path })).close();
    return null;
  } catch (error) {
    if (!isRepriseError(error)) {
      throw error;
    }
    return error.code;
  }
}
