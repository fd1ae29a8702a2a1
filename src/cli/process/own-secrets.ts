import { type Secret, type Secrets, secretsOfAddress } from "../../core/secrets.ts";
import { readPostgresUrl } from "../../store/postgres-url.ts";
import { madeTokenFile, settingsOf } from "./config.ts";
import type { CliContext } from "./context.ts";

/**
 * Returns the secrets that Reprise was given: the keys of models, the tokens of services and the password of the
 * database at this location. The token that a service makes and files of keys are read each time, because they may
 * change. A key that only a command gives is not among them: reading it would run the command.
 *
 * Error codes: `config_invalid` when it is called.
 */
export function ownSecrets(
  cli: CliContext,
  given: {
    readonly location: string;
    /** Tokens of this process' service. */
    readonly tokens?: readonly (string | undefined)[];
  },
): Secrets {
  const { location, tokens = [] } = given;
  const file = madeTokenFile(cli);
  const known = [
    ...[...tokens, cli.env["REPRISE_TOKEN"]].map((value = "") => ({
      name: "REPRISE_TOKEN",
      value,
    })),
    { name: "PGPASSWORD", value: cli.env["PGPASSWORD"] ?? "" },
  ];
  return async () => {
    const { readMadeToken } = await import("./made-token.ts");
    // a plain reader would wait for a pipe in its place; what this one refuses is not used
    const made = file === null ? null : await readMadeToken(file).catch(() => null);
    const token = made === null ? [] : [{ name: "REPRISE_TOKEN", value: made }];
    // names the address with each host
    const address = readPostgresUrl(location)?.servers[0].href ?? null;
    const password = secretsOfAddress("DATABASE_PASSWORD", address);
    return [...known, ...password, ...token, ...(await keysOfModels(cli))];
  };
}

async function keysOfModels(cli: CliContext): Promise<readonly Secret[]> {
  const { secretsOfModels } = await import("../../rules/models/secrets-of-models.ts");
  const settings = settingsOf(cli);
  const { models } = await settings.at(null);
  const inFiles = Object.values(models.providers).map(async ({ keySource, keyFrom, readKey }) => {
    const isFile = keySource !== null && "file" in keySource;
    const value = isFile ? await readKey?.().catch(() => "") : "";
    return { name: keyFrom, value: value ?? "" };
  });
  return [...secretsOfModels(models), ...(await Promise.all(inFiles))];
}
