import { createHash, randomBytes } from "node:crypto";

import type { Operation } from "../../store.ts";

/** A secret of 128 bits, as 22 characters that an address may hold. */
export function newSecret(): string {
  return randomBytes(16).toString("base64url");
}

/** Hashes a secret: only the hash is kept. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

const ID = "signing";

/** The secret that signs cookies, in hexadecimal digits; null if none was made yet. */
export const readSigningSecret: Operation<null, string | null> = async (tx) => {
  const row = await tx.db
    .selectFrom("page_secrets")
    .select("value")
    .where("id", "=", ID)
    .executeTakeFirst();
  return row?.value ?? null;
};

/** Returns the signing secret, made if there is none: of those that make it at once, one does. */
export const makeSigningSecret: Operation<null, string> = async (tx) => {
  const value = randomBytes(32).toString("hex");
  await tx.db
    .insertInto("page_secrets")
    .values({ id: ID, value })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
  return (await readSigningSecret(tx, null)) ?? value;
};
