import { describe, expect, it } from "vitest";

import { endSession } from "../../../../src/store/records/sessions/change.ts";
import { appendUserMessage } from "../../../../src/store/records/messages/append.ts";
import { resolveSession } from "../../../../src/store/records/sessions/read.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngines, newSession, openFresh, sharedStore } from "../../../helpers/engines.ts";

const id = "abcdef12-0000-4000-8000-000000000001";
const near = "abcdef13-0000-4000-8000-000000000002";
const far = "fedcba98-0000-4000-8000-000000000003";

describeEngines("resolveSession", (engine) => {
  const fill = async (store: Store) => {
    for (const chosen of [id, near, far]) {
      await newSession(store, { id: chosen });
    }
  };
  const filled = sharedStore(engine, fill);

  it.each([
    ["the exact id", id, id],
    ["the exact id in upper case", id.toUpperCase(), id],
    ["the shortest prefix that is enough", "fedcba", far],
    ["a prefix in upper case", "ABCDEF12", id],
    ["a prefix that ends in a dash", "abcdef13-", near],
    ["all but the last character", id.slice(0, -1), id],
  ])("[STORE-9] finds a session by %s", async (_, reference, expected) => {
    expect(await filled().read(resolveSession, { reference })).toMatchObject({ id: expected });
  });

  it.each([
    ["an empty string", ""],
    ["a short prefix", "abcde"],
    ["a short prefix of one session only", "fedcb"],
    ["% as a wildcard", "%"],
    ["% behind a prefix", "fedcba%"],
    ["_ as a wildcard", "______"],
    ["_ inside an id", "fedcb_98"],
    ["* as a wildcard", "fedcba*"],
    ["? as a wildcard", "fedcb?"],
    ["white space around an id", ` ${id} `],
    ["a line feed behind an id", `${id}\n`],
    ["more than an id", `${id}0`],
    ["dashes alone", "------"],
    ["an unknown prefix", "000000"],
    ["an unknown id", "00000000-0000-4000-8000-000000000000"],
    ["an id without its dashes", id.replaceAll("-", "")],
    ["a quote", "abcdef'"],
  ])("[STORE-9] finds nothing for %s", async (_, reference) => {
    await expect(filled().read(resolveSession, { reference })).rejects.toMatchObject({
      name: "RepriseError",
      code: "session_not_found",
      candidates: [],
    });
  });

  it("[STORE-10] refuses a prefix of several sessions and names them, the latest first", async () => {
    const store = await openFresh(engine);
    await fill(store);
    await store.write(appendUserMessage, { reference: near, content: "earlier" });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await store.write(appendUserMessage, { reference: id, content: "later" });
    await store.write(endSession, { id });

    await expect(store.read(resolveSession, { reference: "abcdef1" })).rejects.toMatchObject({
      code: "ambiguous_id",
      candidates: [
        { id, title: "later", last_activity_at: expect.any(String) },
        { id: near, title: "earlier", last_activity_at: expect.any(String) },
      ],
    });
  });

  it("[STORE-10] names ten candidates at most and says that there are more", async () => {
    const store = await openFresh(engine);
    for (let index = 10; index < 22; index += 1) {
      await newSession(store, { id: `abcdef00-0000-4000-8000-0000000000${index}` });
    }

    const refused = store.read(resolveSession, { reference: "abcdef" });

    await expect(refused).rejects.toThrow(/^More than 10 sessions/);
    await expect(refused).rejects.toMatchObject({ candidates: { length: 10 } });
  });

  describe("the error for an unknown session", () => {
    it("never repeats the reference that was asked for", async () => {
      const reference = "cafe00-cafe";

      const error: unknown = await filled()
        .read(resolveSession, { reference })
        .catch((failure: unknown) => failure);

      expect(String(error)).not.toContain(reference);
    });
  });
});
