import { type ModelConfig, withKey } from "../../../rules/models/config.ts";
import { type Check, failed, failedBy, ok, warning } from "../../../store/check.ts";

/** A provider that does not answer within this time would not be usable either. */
const TIMEOUT_MS = 10_000;

interface Question {
  readonly provider: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks every provider that is configured, or is the default model's, for its list of models. */
export async function checkReachable(config: ModelConfig, model: string): Promise<Check[]> {
  const known = await keyed(config);
  if (!("openai" in known)) {
    return [known];
  }
  const questions = questionsOf(known, model);
  if (questions.length === 0) {
    return [ok("online", "No provider is configured, so none was asked.")];
  }
  return Promise.all(questions.map(ask));
}

/** With the keys that have to be read; the failed check if one cannot be. */
async function keyed(config: ModelConfig): Promise<ModelConfig | Check> {
  try {
    return await withKey(await withKey(config, "anthropic"), "openai");
  } catch (error) {
    return failedBy(error, "online");
  }
}

function questionsOf({ anthropic, openai, ollama }: ModelConfig, model: string): Question[] {
  const questions: Question[] = [];
  if (anthropic.apiKey !== null || anthropic.baseUrl !== null) {
    questions.push({
      provider: "Anthropic",
      url: under(anthropic.baseUrl ?? "https://api.anthropic.com", "v1/models"),
      headers: { "x-api-key": anthropic.apiKey ?? "none", "anthropic-version": "2023-06-01" },
    });
  }
  if (openai.apiKey !== null || openai.baseUrl !== null) {
    questions.push({
      provider: "The OpenAI service",
      url: under(openai.baseUrl ?? "https://api.openai.com/v1", "models"),
      headers: { authorization: `Bearer ${openai.apiKey ?? "none"}` },
    });
  }
  if (ollama.baseUrl !== null || model.startsWith("ollama:")) {
    const url = under(ollama.baseUrl ?? "http://127.0.0.1:11434", "api/tags");
    questions.push({ provider: "Ollama", url, headers: {} });
  }
  return questions;
}

function under(base: string, path: string): string {
  return `${base.replace(/\/+$/, "")}/${path}`;
}

async function ask({ provider, url, headers }: Question): Promise<Check> {
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
