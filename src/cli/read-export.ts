import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";

import { RepriseError } from "../core/errors.ts";
import type { CliContext } from "./context.ts";

/** The text of an export; `-` reads it from standard input. */
export async function readExport(cli: CliContext, file: string): Promise<string> {
  const reading = file === "-" ? buffer(cli.stdin) : readFile(resolve(cli.cwd, file));
  const bytes = await reading.catch((cause: unknown) => {
    const sentence = "The export cannot be read; check its path.";
    throw new RepriseError("file_unreadable", sentence, { cause });
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new RepriseError(
      "malformed_json",
      "The file is not JSON in UTF-8, or is larger than 512 MiB; export it again.",
      { cause },
    );
  }
}
