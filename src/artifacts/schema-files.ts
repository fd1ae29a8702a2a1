import { readFile, stat } from "node:fs/promises";
import { relative, sep } from "node:path";

import { isRepriseError, RepriseError } from "../core/errors.ts";
import { findSchemaFiles, type UnlistedReason } from "./find-schema-files.ts";
import { readJson } from "./sources/json-source.ts";
import { createLineIndex } from "./line-index.ts";
import { oneLine } from "../core/text/terminal-text.ts";
import { toValue, withoutMark, type JsonObject, type JsonValue } from "./sources/source.ts";

/** A file that holds a JSON Schema with an id. */
export interface SchemaFile {
  readonly id: string;
  readonly title: string | null;
  /** How the file is named to a person. */
  readonly shown: string;
  readonly bytes: Buffer;
  readonly schema: JsonObject;
  readonly source: "built-in" | "project";
}

/** A file that should hold a schema and holds none, or one that cannot be taken. */
export interface BrokenSchema {
  /** Null if the file does not say one. */
  readonly id: string | null;
  /** Whether the id is its own: it was read, and is not a schema. Else another one may have the id. */
  readonly owns: boolean;
  readonly error: RepriseError;
}

/** A folder of schemas; `shown` is how it is named to a person. */
export interface SchemaFolder {
  readonly path: string;
  readonly shown: string;
  /** The folder must really lie in this one; null if links may lead anywhere. */
  readonly within: string | null;
  readonly source: SchemaFile["source"];
}

/** Schema files in one folder, and bytes of one file. */
const MAX_FILES = 500;
const MAX_SCHEMA_BYTES = 1024 * 1024;

/**
 * Reads every `.json` file in a folder and the folders in it, in the order of their paths. A folder
 * that does not exist has none. Links are skipped: the folder may come with a foreign repository. A
 * folder that leads out of `within` or is too large is one broken schema. A file that holds no
 * schema is in the list with the error `schema_invalid` or `file_unreadable`, which names the file
 * and, if it is known, the line.
 *
 * Error codes: `schema_invalid` for too many files, `file_unreadable` for the folder.
 */
export async function readSchemaFiles(
  folder: SchemaFolder,
): Promise<(SchemaFile | BrokenSchema)[]> {
  const paths = await findSchemaFiles(folder.path, folder.within).catch((cause: unknown) => {
    throw unreadable("folder .reprise/schemas", cause);
  });
  if (typeof paths === "string") {
    return [broken(invalid(`The folder ${folder.shown}`, UNLISTED[paths]))];
  }
  if (paths.length > MAX_FILES) {
    throw invalid(`The folder ${folder.shown}`, `holds more than ${MAX_FILES} schemas`);
  }
  return Promise.all(
    paths.map(async (path) => {
      const name = relative(folder.path, path).split(sep).join("/");
      const shown = oneLine(`${folder.shown}/${name}`);
      try {
        return { ...parse(await bytesOf(path, shown), shown), source: folder.source };
      } catch (error) {
        if (error instanceof RepriseError) {
          return broken(error);
        }
        throw error;
      }
    }),
  );
}

function broken(error: RepriseError): BrokenSchema {
  return { id: null, owns: false, error };
}

const UNLISTED: Readonly<Record<UnlistedReason, string>> = {
  outside: "leads out of the project through a link, so none of its schemas is used",
  too_large: "has more than 10,000 entries or 16 levels of folders, so none of its schemas is used",
};

function unreadable(what: string, cause: unknown): RepriseError {
  const message = `The ${what} cannot be read; check its permissions.`;
  return new RepriseError("file_unreadable", message, { cause });
}

async function bytesOf(path: string, shown: string): Promise<Buffer> {
  try {
    const found = await stat(path);
    if (!found.isFile()) {
      throw invalidFile(shown, "is not a file");
    }
    if (found.size <= MAX_SCHEMA_BYTES) {
      return await readFile(path);
    }
  } catch (cause) {
    throw isRepriseError(cause) ? cause : unreadable(`schema file ${shown}`, cause);
  }
  throw invalidFile(shown, "is larger than 1 MiB");
}

function parse(bytes: Buffer, shown: string): Omit<SchemaFile, "source"> {
  const text = withoutMark(bytes.toString("utf8"));
  const { root, findings } = readJson(text, createLineIndex(text));
  const [finding] = findings;
  if (finding !== undefined || root === null) {
    throw invalidFile(`${shown}:${finding?.line ?? 1}`, `is not valid: ${finding?.message ?? ""}`);
  }
  const schema = toValue(root);
  if (!isObject(schema)) {
    throw invalidFile(shown, "holds no object");
  }
  const { $id: id, title } = schema;
  if (typeof id !== "string" || id === "" || id.includes("#")) {
    throw invalidFile(shown, 'has no "$id", which has to be an id like dev/review@1');
  }
  if (/^file:/i.test(id)) {
    throw invalidFile(shown, 'has an "$id" that names a file; choose one like dev/review@1');
  }
  return { id, title: typeof title === "string" ? title : null, shown, bytes, schema };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The refusal of one schema file; `problem` completes "The schema file … ". */
export function invalidFile(shown: string, problem: string): RepriseError {
  return invalid(`The schema file ${shown}`, problem);
}

function invalid(what: string, problem: string): RepriseError {
  return new RepriseError("schema_invalid", `${what} ${problem}; correct or remove it.`);
}
