import { isSameName, nameKey, type NameKey, spellingKey } from "./control-files.ts";

export interface SecretFile {
  /** As a pattern of paths shows it: `*` for any characters of the name, `/**` for all below a folder. */
  readonly name: string;
  /** Content of such a file, as the end of a sentence. */
  readonly reason: string;
}

interface Entry extends SecretFile {
  /** Whether the last name of a path, as `spellingKey` writes it, is one. */
  readonly isFile?: (key: string) => boolean;
  /** A folder, at any depth above the file. */
  readonly folder?: NameKey;
}

const PRIVATE_KEY = "it is the name of a private key";
const CREDENTIALS = "programs keep passwords and tokens in it";

function below(folder: string): Entry {
  return { name: `${folder}/**`, reason: CREDENTIALS, folder: nameKey(folder) };
}

function named(name: string): Entry {
  const wanted = nameKey(name);
  return { name, reason: CREDENTIALS, isFile: (key) => isSameName(key, wanted) };
}

function ending(end: string): Entry {
  return { name: `*${end}`, reason: PRIVATE_KEY, isFile: (key) => key.endsWith(end) };
}

const ENV = nameKey(".env");
const EXAMPLES = [".example", ".sample", ".template"];

/** Folders come first: a rule about one of them is about all that is in it. */
const ENTRIES: readonly Entry[] = [
  ...[".ssh", ".gnupg", ".aws", ".kube"].map(below),
  {
    name: ".env*",
    reason: "it holds the environment of programs, often with passwords and keys",
    isFile: (key) =>
      (key.startsWith(ENV.key) || isSameName(key, ENV)) &&
      !EXAMPLES.some((end) => key.endsWith(end)),
  },
  {
    name: "id_*",
    reason: PRIVATE_KEY,
    isFile: (key) =>
      /^id_[^.]+$/.test(key) || (/^id_(rsa|dsa|ecdsa|ed25519)/.test(key) && !key.endsWith(".pub")),
  },
  ...[".pem", ".key", ".p8", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdbx"].map(ending),
  ...[
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".dockercfg",
    "credentials",
    "credentials.json",
    "application_default_credentials.json",
    "kubeconfig",
  ].map(named),
  {
    name: "service-account*.json",
    reason: CREDENTIALS,
    isFile: (key) => /^service[-_]?account.*\.json$/.test(key),
  },
];

/** Files that often hold secrets, which are read only with a person's consent. */
export const SECRET_FILES: readonly SecretFile[] = ENTRIES;

/** The entry that a path of names falls under, however it is spelled. */
export function secretFileIn(names: readonly string[]): SecretFile | null {
  const keys = names.map(spellingKey);
  const last = keys.at(-1) ?? "";
  const folders = keys.slice(0, -1);
  const found = ENTRIES.find(({ isFile, folder }) =>
    folder === undefined ? isFile?.(last) : folders.some((key) => isSameName(key, folder)),
  );
  return found ?? null;
}
