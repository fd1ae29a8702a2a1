import { mkdirSync } from "node:fs";
import { join } from "node:path";

import type { Phase } from "../../src/artifacts/plans/phase-plan.ts";
import type { CreatePlanRunRequest } from "../../src/core/schemas/plan-run-requests.ts";
import type { RunDetail } from "../../src/core/schemas/plan-run-schemas.ts";
import type { Page } from "playwright-core";
import { openPages, type PageView } from "./page.ts";
import { PAGE_TOKEN, startPageService } from "./page-service.ts";
import { freshHome } from "./reprise.ts";
import { makeFolder } from "./temp.ts";
import { startScriptedProvider, type Step, text } from "./scripted-provider.ts";

/** Answers of the model by the key of the phase that asks; others end at once. */
export type PhaseAnswers = Readonly<Record<string, () => readonly Step[]>>;

/** A real service that runs plans with a model on loopback: one for all tests of a file. */
export async function startRunService(answers: PhaseAnswers) {
  const stack = new AsyncDisposableStack();
  const provider = stack.use(
    await startScriptedProvider("openai", (_, body) => {
      const key = /This is phase ([a-z0-9-]+) of a plan\./.exec(body)?.[1] ?? "";
      return answers[key]?.() ?? [text(`The work of ${key} is done.`)];
    }),
  );
  const [folder, project] = [stack.use(makeFolder()), stack.use(makeFolder())];
  const env = { ...provider.env, REPRISE_MODEL: "openai:gpt-test" };
  const home = freshHome(env, { home: folder.path, project: project.path });
  const options = { folder: home.project, isShared: true };
  const { url, client, service } = await startPageService(home, options);
  stack.defer(async () => void (await service.stop("SIGKILL")));
  let projects = 0;
  return {
    /** A browser, and a folder in which no other test works. It leaves its runs to the service. */
    enter: async () => {
      const pages = await openPages(url);
      const project = join(home.project, `project-${(projects += 1)}`);
      mkdirSync(project);
      return {
        ...pages,
        url,
        client,
        /** Stores a run of these phases in the project. */
        begin: (
          phases: readonly Phase[],
          options: Partial<CreatePlanRunRequest> = {},
        ): Promise<RunDetail> => {
          const plan = { runId: crypto.randomUUID(), phaseKey: "planning", phases };
          const body = { plan: { text: JSON.stringify(plan) }, repo_path: project };
          return client.createPlanRun({ ...body, ...options });
        },
        /** Opens a run's page, logged in. */
        open: ({ session_id }: Pick<RunDetail, "session_id">, view: PageView = {}): Promise<Page> =>
          pages.openPage(`/sessions/${session_id}`, { token: PAGE_TOKEN, ...view }),
      };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
