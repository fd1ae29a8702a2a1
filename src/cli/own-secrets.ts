import { type Secret, secretsOfAddress } from "../exchange/secrets.ts";
import { isPostgres } from "../store/location.ts";
import { madeTokenFile } from "./config.ts";
import type { CliContext } from "./context.ts";

/**
 * What Reprise was given besides the keys of models: the tokens of services and the password of the database
 * at this location. The token that a service makes is read each time, because another process may make it.
 */
export function ownSecrets(
  cli: CliContext,
  given: {
    readonly location: string;
    /** Of this process' service. */
    readonly tokens?: readonly (string | undefined)[];
  },
): () => Promise<readonly Secret[]> {
  const { location, tokens = [] } = given;
  const file = madeTokenFile(cli);
  const known = [
    ...[...tokens, cli.env["REPRISE_TOKEN"]].map((value = "") => ({
      name: "REPRISE_TOKEN",
      value,
    })),
    { name: "PGPASSWORD", value: cli.env["PGPASSWORD"] ?? "" },
    ...(isPostgres(location) ? secretsOfAddress("DATABASE_PASSWORD", location) : []),
  ];
  return async () => {
    const { readMadeToken } = await import("./made-token.ts");
    // a plain reader would wait for a pipe in its place; what this one refuses is not used
    const made = file === null ? null : await readMadeToken(file).catch(() => null);
    return made === null ? known : [...known, { name: "REPRISE_TOKEN", value: made }];
  };
}
