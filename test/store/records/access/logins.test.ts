import { expect, it } from "vitest";

import { listAccess, revokeAccess } from "../../../../src/store/records/access/list.ts";
import {
  addLoginCode,
  loginByCode,
  loginByShare,
  loginByToken,
  readLogin,
  touchLogin,
} from "../../../../src/store/records/access/logins.ts";
import {
  hashOf,
  makeSigningSecret,
  newSecret,
  readSigningSecret,
} from "../../../../src/store/records/access/secrets.ts";
import { addShare } from "../../../../src/store/records/access/shares.ts";
import { deleteSessionTree } from "../../../../src/store/records/sessions/delete-tree.ts";
import type { Store } from "../../../../src/store/store.ts";
import { describeEngines, newSession, openFresh } from "../../../helpers/engines.ts";

/** Moves a time of all rows of a table into the past. */
async function age(
  store: Store,
  table: "page_logins" | "login_codes" | "session_shares",
  column: string,
  ms: number,
) {
  await store.write(async ({ db, dialect }) => {
    await db
      .updateTable(table)
      .set({ [column]: dialect.now(-ms) })
      .execute();
  }, null);
}

const HOUR = 3_600_000;
const earlier = null;

describeEngines("who gets in", (engine) => {
  it("[PAGE-18] has one secret that signs, made by the first of those who need it", async () => {
    const database = await engine.create();
    const stores = [await database.open(), await database.open()];
    const made = await Promise.all(
      stores.flatMap((store) => [0, 1].map(() => store.write(makeSigningSecret, null))),
    );
    expect(new Set(made).size).toBe(1);
    expect(made[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(await stores[1]?.read(readSigningSecret, null)).toBe(made[0]);
  });

  it("[PAGE-6] a code is used by one of those who have it at once, and by none whose write failed", async () => {
    const database = await engine.create();
    const stores = [await database.open(), await database.open()] as const;
    const hash = hashOf(newSecret());
    await stores[0].write(addLoginCode, { hash });
    const failed = stores[0].write(
      async (tx, input: { hash: string; earlier: null }) => {
        expect(await loginByCode(tx, input)).not.toBeNull();
        throw new Error("killed");
      },
      { hash, earlier },
    );
    await expect(failed).rejects.toThrow("killed");
    expect(await stores[0].read(listAccess, null)).toEqual([]);
    const used = await Promise.all(
      [0, 1, 0, 1].map((at) => stores[at === 0 ? 0 : 1].write(loginByCode, { hash, earlier })),
    );
    expect(used.filter((id) => id !== null)).toHaveLength(1);
    expect(await stores[1].read(listAccess, null)).toMatchObject([{ kind: "code" }]);
  });

  it("[PAGE-6] [PAGE-5] codes and logins end by the clock of the database, and a last use is kept", async () => {
    const store = await openFresh(engine);
    const hash = hashOf("code");
    await store.write(addLoginCode, { hash });
    await age(store, "login_codes", "expires_at", 1);
    expect(await store.write(loginByCode, { hash, earlier })).toBeNull();
    await store.write(addLoginCode, { hash: hashOf("other") });

    const id = await store.write(loginByToken, { kind: "token", earlier });
    expect(await store.read(readLogin, { id })).toMatchObject({
      principal: { role: "owner", via: "login" },
      isStale: false,
    });
    await store.write(touchLogin, { id });
    await age(store, "page_logins", "last_used_at", 6 * 60_000);
    expect(await store.read(readLogin, { id })).toMatchObject({ isStale: true });
    await store.write(touchLogin, { id });
    expect(await store.read(readLogin, { id })).toMatchObject({ isStale: false });
    await age(store, "page_logins", "last_used_at", 11.5 * HOUR);
    const soon = await store.read(readLogin, { id });
    expect(Date.parse(soon?.expires_at ?? "") - Date.now()).toBeLessThan(HOUR);
    await age(store, "page_logins", "last_used_at", 12 * HOUR);
    expect(await store.read(readLogin, { id })).toBeNull();
    expect(await store.read(listAccess, null)).toEqual([]);
    await age(store, "page_logins", "last_used_at", 0);
    await age(store, "page_logins", "created_at", 7 * 24 * HOUR);
    expect(await store.read(readLogin, { id })).toBeNull();
    // the next login forgets it
    const next = await store.write(loginByToken, { kind: "read_token", earlier });
    const kept = await store.read(
      ({ db }) => db.selectFrom("page_logins").select("id").execute(),
      null,
    );
    expect(kept).toEqual([{ id: next }]);
  });

  it("[PAGE-11] [PAGE-5] a link and who came by it end with its time, when it is revoked, and with the session", async () => {
    const store = await openFresh(engine);
    const { id: session } = await newSession(store);
    const enter = async (): Promise<string> => {
      const hash = hashOf(newSecret());
      await store.write(addShare, { reference: session, hash, days: 7 });
      const id = await store.write(loginByShare, { hash, earlier });
      expect(await store.read(readLogin, { id: id ?? "" })).toMatchObject({
        principal: { role: "visitor", via: "share" },
        session,
      });
      return id ?? "";
    };
    const ended = async (id: string): Promise<void> => {
      expect(await store.read(readLogin, { id })).toBeNull();
      expect(await store.read(listAccess, null)).toEqual([]);
    };
    const first = await enter();
    await age(store, "session_shares", "expires_at", 1);
    await ended(first);

    const second = await enter();
    const listed = await store.read(listAccess, null);
    const link = listed.find(({ kind }) => kind === "link");
    expect(link).toMatchObject({ session_id: session });
    await store.write(revokeAccess, { id: link?.id ?? "" });
    await ended(second);
    await expect(store.write(revokeAccess, { id: link?.id ?? "" })).rejects.toMatchObject({
      code: "access_not_found",
    });

    const third = await enter();
    await store.write(deleteSessionTree, { id: session });
    await ended(third);
  });
});
