import { createHash, createHmac } from "node:crypto";

const KEY = "seals the reasoning of mocks";

/** Content as a text that cannot be changed unnoticed, and that any mock can read. */
export function seal(content: object): string {
  const body = Buffer.from(JSON.stringify(content)).toString("base64url");
  return `${body}.${createHmac("sha256", KEY).update(body).digest("base64url").slice(0, 16)}`;
}

/** The content of a seal; null if no mock has made it. */
export function openSeal(text: string): unknown {
  const [body = ""] = text.split(".");
  const content = Buffer.from(body, "base64url").toString();
  if (!content.startsWith("{")) {
    return null;
  }
  const opened = JSON.parse(content) as object;
  return seal(opened) === text ? opened : null;
}

export function digest(...texts: readonly string[]): string {
  return createHash("sha256").update(texts.join("\n")).digest("base64url").slice(0, 22);
}
