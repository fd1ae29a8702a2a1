import { createReadStream } from "node:fs";

/** All bytes of a file, a pipe or a device; null if they are more than `max`, of which no more is read. */
export async function readLimited(path: string, max: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of createReadStream(path, { end: max })) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    chunks.push(bytes);
  }
  return size > max ? null : Buffer.concat(chunks);
}
