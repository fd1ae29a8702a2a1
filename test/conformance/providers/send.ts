import { onTestFinished } from "vitest";

import {
  type Provider,
  type ProviderName,
  type ProviderOptions,
  startProvider,
} from "../../helpers/providers/start.ts";
import type { Step } from "../../helpers/providers/steps.ts";
import type { Changing } from "./cases.ts";

export interface Sent {
  readonly status: number;
  readonly answer: Changing;
}

export async function send(
  url: string,
  body: Changing,
  headers: Readonly<Record<string, string>>,
): Promise<Sent> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: await response.json() };
}

/** Starts a provider that ends with the test. */
export async function providerOfTest(
  name: ProviderName,
  script: (index: number) => readonly Step[],
  options: ProviderOptions = {},
): Promise<Provider> {
  const provider = await startProvider(name, script, options);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return provider;
}

/** The events of a stream with their data. */
export function stream(
  url: string,
  body: Changing,
  headers: Readonly<Record<string, string>>,
): Promise<Changing[]> {
  return lines(url, { ...body, stream: true }, headers);
}

/** The JSON in the lines of an answer, those of Ollama and of events. */
export async function lines(
  url: string,
  body: Changing,
  headers: Readonly<Record<string, string>>,
): Promise<Changing[]> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return (await response.text())
    .split("\n")
    .flatMap((line) => /^(?:data: )?(\{.*)$/.exec(line)?.[1] ?? [])
    .map((data) => JSON.parse(data));
}
