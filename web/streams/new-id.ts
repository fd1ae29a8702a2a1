/** 128 random bits as text, without `crypto.randomUUID`: pages of other machines without TLS do not have it. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) =>
    part.toString(16).padStart(8, "0"),
  ).join("");
}
