import { createHash, timingSafeEqual } from "node:crypto";

/**
 * Makes the check of an Authorization header against the token. Digests of one length are
 * compared, in constant time, so that an answer's delay tells nothing about the token.
 */
export function bearerCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  return (authorization) => {
    const given = /^Bearer +([^\s]+) *$/i.exec(authorization ?? "")?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
