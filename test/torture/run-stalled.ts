import assert from "node:assert/strict";
import { join } from "node:path";

import type { TortureOptions } from "./long-tests.ts";
import { startService, tortureFolder } from "./service.ts";
import { stallReaders } from "./stalled-readers.ts";

const MOST_BYTES = 200e6;

/** 100 readers that stop reading: what they cost together, and that each resumes whole. */
export async function run({ size = 100 }: TortureOptions): Promise<void> {
  using folder = tortureFolder();
  const database = join(folder.path, "reprise.db");
  await using service = await startService({ database, args: ["--log"] });
  const { readers, extraBytes } = await stallReaders({ service, readers: size, messages: 200 });
  const cost = extraBytes === null ? "unknown here" : `${(extraBytes / 1e6).toFixed(0)} MB`;
  console.log(`stalled: ${readers} readers took nothing, cost ${cost} together, all resumed whole`);
  assert.ok(extraBytes === null || extraBytes < MOST_BYTES);
}
