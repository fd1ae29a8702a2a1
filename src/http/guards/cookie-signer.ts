import { createHmac, timingSafeEqual } from "node:crypto";

import type { LoginKind } from "../../core/principal.ts";
import { makeSigningSecret, readSigningSecret } from "../../store/records/access/secrets.ts";
import type { Store } from "../../store/store.ts";

export interface SignerOptions {
  readonly store: Store;
  readonly token: string | undefined;
  readonly readToken: string | undefined;
}

/** Makes and checks what a browser keeps. */
export interface CookieSigner {
  sign(id: string, kind: LoginKind): Promise<string>;
  /**
   * The login that a value names, and whether it is signed as one of a kind; null if it is signed as none. It may
   * have ended.
   */
  open(value: string): Promise<{ id: string; isSignedAs(kind: LoginKind): boolean } | null>;
}

const FORM = /^([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

/**
 * Signs with HMAC-SHA-256. The key is the database's secret with the service's token, so that another token ends all
 * logins; those by the read token end with that one too.
 */
export function createCookieSigner({
  store,
  token = "",
  readToken = "",
}: SignerOptions): CookieSigner {
  let known: string | null = null;
  const signature = (secret: string, id: string, kind: LoginKind): Buffer =>
    createHmac("sha256", createHmac("sha256", Buffer.from(secret, "hex")).update(token).digest())
      .update(kind === "read_token" ? `${id} ${readToken}` : id)
      .digest();
  return {
    sign: async (id, kind) => {
      known ??= await store.write(makeSigningSecret, null);
      return `${id}.${signature(known, id, kind).toString("base64url")}`;
    },
    open: async (value) => {
      const [, id, signed] = FORM.exec(value) ?? [];
      if (id === undefined || signed === undefined) {
        return null;
      }
      known ??= await store.read(readSigningSecret, null);
      const secret = known;
      if (secret === null) {
        return null;
      }
      const given = Buffer.from(signed, "base64url");
      const isSignedAs = (kind: LoginKind): boolean =>
        timingSafeEqual(given, signature(secret, id, kind));
      return isSignedAs("token") || isSignedAs("read_token") ? { id, isSignedAs } : null;
    },
  };
}
