import { type ModelConfig, withKey } from "../../../rules/models/config.ts";
import { configuredProviders, listRequest } from "../../../rules/models/list-request.ts";
import { providerLabel, withCapital } from "../../../rules/models/providers.ts";
import { type Check, failed, failedBy, ok, warning } from "../../../store/check.ts";

/** A provider that does not answer within this time would not be usable either. */
const TIMEOUT_MS = 10_000;

/** Asks every provider that is configured, or is the default model's, for its list of models. */
export async function checkReachable(config: ModelConfig, model: string): Promise<Check[]> {
  const names = configuredProviders(config, model);
  if (names.length === 0) {
    return [ok("online", "No provider is configured, so none was asked.")];
  }
  const checks = await Promise.all(names.map((name) => check(config, name)));
  return checks.flat();
}

/** A key that has to be read and cannot be is a failed check. */
async function check(config: ModelConfig, name: string): Promise<Check[]> {
  try {
    const provider = (await withKey(config, name)).providers[name];
    const request = provider === undefined ? null : listRequest(name, provider);
    return request === null ? [] : [await ask(withCapital(providerLabel(name)), request)];
  } catch (error) {
    return [failedBy(error, "online")];
  }
}

async function ask(
  provider: string,
  { url, headers }: NonNullable<ReturnType<typeof listRequest>>,
): Promise<Check> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(url, { headers, signal, redirect: "error" });
    await answer.body?.cancel();
    if (answer.ok) {
      return ok("online", `${provider} can be reached.`);
    }
    return answer.status === 401 || answer.status === 403
      ? failed("online", `${provider} refuses the key; check it, or make a new one.`)
      : // a compatible server need not have a list of models
        warning(
          "online",
          `${provider} can be reached, but answered ${answer.status} when asked for its models.`,
        );
  } catch {
    return failed(
      "online",
      `${provider} cannot be reached; check the network and the address in its _BASE_URL variable.`,
    );
  }
}
