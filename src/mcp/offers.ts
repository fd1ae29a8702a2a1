import type { Client } from "@modelcontextprotocol/client";

import { pagesOf } from "./pages.ts";
import { resultText } from "./result-text.ts";

/** A prompt of a server, as far as a line that calls it needs. */
export interface ListedPrompt {
  readonly name: string;
  readonly arguments: readonly { readonly name: string; readonly isRequired: boolean }[];
}

interface Asking {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A resource of a server, as far as a person has to name it. */
export interface ListedResource {
  readonly uri: string;
  readonly name: string;
}

const PROMPTS = { pages: 5, entries: 500 };
const RESOURCES = { pages: 5, entries: 500 };
const MAX_MESSAGES = 100;

/** Returns a resource as text: clean and bounded, and named if it is none. Rejects with what prevents it: see `reasonOf`. */
export async function readResource(client: Client, uri: string, asking: Asking): Promise<string> {
  const { contents } = await client.readResource({ uri }, optionsOf(asking));
  return resultText({ content: contents.map((resource) => ({ type: "resource", resource })) });
}

/** Returns the prompts of a server; none if it has none to offer. */
export async function listPrompts(
  client: Client,
  asking: Asking,
): Promise<readonly ListedPrompt[]> {
  if (client.getServerCapabilities()?.prompts === undefined) {
    return [];
  }
  const prompts = await pagesOf(PROMPTS, async (params) => {
    const given = await client.request({ method: "prompts/list", params }, optionsOf(asking));
    return { entries: given.prompts, nextCursor: given.nextCursor };
  });
  return prompts.map(({ name, arguments: list = [] }) => ({
    name,
    arguments: list.map((each) => ({ name: each.name, isRequired: each.required === true })),
  }));
}

/** Returns the resources of a server; none if it has none to offer. Templates of them are left out: they name none. */
export async function listResources(
  client: Client,
  asking: Asking,
): Promise<readonly ListedResource[]> {
  if (client.getServerCapabilities()?.resources === undefined) {
    return [];
  }
  const resources = await pagesOf(RESOURCES, async (params) => {
    const given = await client.request({ method: "resources/list", params }, optionsOf(asking));
    return { entries: given.resources, nextCursor: given.nextCursor };
  });
  return resources.map(({ uri, name }) => ({ uri, name }));
}

/** Returns the messages of a prompt as one text. Who says each of them does not matter: none is the user. */
export async function getPrompt(
  client: Client,
  prompt: { readonly name: string; readonly arguments: Readonly<Record<string, string>> },
  asking: Asking,
): Promise<string> {
  const { messages } = await client.getPrompt(
    { name: prompt.name, arguments: { ...prompt.arguments } },
    optionsOf(asking),
  );
  return resultText({ content: messages.slice(0, MAX_MESSAGES).map(({ content }) => content) });
}

function optionsOf({ timeoutMs: timeout, signal }: Asking) {
  return { timeout, ...(signal === undefined ? {} : { signal }) };
}
