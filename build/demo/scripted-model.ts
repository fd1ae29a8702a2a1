import {
  type ProviderServer,
  type Received,
  serveProvider,
} from "../../test/helpers/providers/server.ts";
import { sentRequest } from "../../test/helpers/providers/sent-messages.ts";
import { apisOf } from "../../test/helpers/providers/start.ts";
import { call, type Step, text } from "../../test/helpers/providers/steps.ts";

/** Begins every answer, so that nobody takes the script for a model. */
const LABEL = "[scripted]";

const RUN_ID = "6a1f8f5e-0f0c-4c58-9d0a-2f3a7f3c9b10";

/** The plan that the script hands in. */
const PLAN = {
  runId: RUN_ID,
  phaseKey: "planning",
  phases: [
    {
      key: "store",
      title: "Store notes",
      role: "assistant",
      instructions: "Write notes.js: add(text) and all(). Done when both work.",
    },
    {
      key: "list",
      title: "List notes",
      role: "assistant",
      instructions: "Write list.js: it prints all notes. Done when it does.",
      depends_on: ["store"],
    },
    {
      key: "review",
      title: "Review",
      role: "reviewer",
      instructions: "Review notes.js and list.js for correctness.",
      depends_on: ["store", "list"],
    },
  ],
};

export const PLAN_FILE = `.reprise/plans/${RUN_ID}.json`;

/** Files that the phases write. */
export const FILES: Readonly<Record<string, string>> = {
  "notes.js":
    "const notes = [];\nexport const add = (text) => notes.push(text);\nexport const all = () => [...notes];\n",
  "list.js": 'import { all } from "./notes.js";\nfor (const note of all()) console.log(note);\n',
};

const WRITES: Readonly<Record<string, string>> = { store: "notes.js", list: "list.js" };

export interface ScriptedModel extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  /** Number of requests of each phase. */
  asked(phase: string): number;
  /** Reasons for which requests were refused, as the real provider refuses them. */
  refusals(): readonly string[];
}

/**
 * Serves a script that says that it is one, in the form of OpenAI's API, on this machine only. `held` is called when
 * the phase `list` is asked for the first time; its answer waits until what it returns is done.
 */
export async function startScriptedModel(held: () => Promise<void>): Promise<ScriptedModel> {
  const asked = new Map<string | null, number>();
  const server: ProviderServer = await serveProvider({
    apis: apisOf("openai", {}, () => 0),
    script: async (_index, _body, received) => {
      const phase = phaseOf(received);
      const count = (asked.get(phase) ?? 0) + 1;
      asked.set(phase, count);
      if (phase === "list" && count === 1) {
        await held();
      }
      return answer(received, phase);
    },
  });
  return {
    env: {
      OPENAI_BASE_URL: `${server.url}/v1`,
      OPENAI_API_KEY: "none",
      REPRISE_MODEL: "openai:scripted",
      REPRISE_CONTEXT_TOKENS: "128000",
    },
    asked: (phase) => asked.get(phase) ?? 0,
    refusals: () => server.refusals().map(({ message }) => message),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function phaseOf(received: Received): string | null {
  const first = sentRequest(received).messages.find(({ role }) => role === "user");
  return /\nThis is phase ([a-z-]+) of a plan\./.exec(first?.content ?? "")?.[1] ?? null;
}

function answer(received: Received, phase: string | null): Step[] {
  const { messages } = sentRequest(received);
  const isBegin = messages.at(-1)?.role === "user";
  const path = phase === null ? null : WRITES[phase];
  if (phase === null) {
    return isBegin
      ? [call("hand_in_plan", { content: JSON.stringify(PLAN) })]
      : [text(`${LABEL} I am a script and not a model. The plan has three phases.`)];
  }
  if (path === null || path === undefined) {
    return [text(`${LABEL} notes.js and list.js do what the plan says.`)];
  }
  return isBegin
    ? [call("write_file", { path, content: FILES[path] })]
    : [text(`${LABEL} ${path} is written.`)];
}
