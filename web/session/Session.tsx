import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { usePageTitle } from "../parts/attention.ts";
import { lazy } from "../parts/Lazy.tsx";
import { Link } from "../parts/Link.tsx";
import { Notice } from "../parts/Notice.tsx";
import { Changes, SessionMenu } from "./act/later.ts";
import { Composer } from "./act/Composer.tsx";
import { createSessionModel, type SessionModel } from "./model.ts";
import { SessionHead } from "./SessionHead.tsx";
import { loadMarkdown } from "./Text.tsx";
import { Transcript } from "./Transcript.tsx";

const Fork = lazy(async () => (await import("./fork/Fork.tsx")).Fork, null);
const Questions = lazy(async () => (await import("./question/Questions.tsx")).Questions, null);
const Tasks = lazy(async () => (await import("./tasks/Tasks.tsx")).Tasks, null);
const Run = lazy(async () => (await import("./run/Run.tsx")).Run);

void loadMarkdown();

/** One session: its conversation, what happens in it, and what a person does there. */
export function Session({ id }: { readonly id: string }): JSX.Element {
  const model = useMemo(() => createSessionModel(id), [id]);
  useEffect(() => model.start(), [model]);
  const session = model.session.value;
  const title = session === null ? null : (session.name ?? session.title);
  usePageTitle(title);
  const isRun = session?.agent === "plan";
  return (
    <div class="session">
      <SessionProblemNotice model={model} />
      {session === null ? (
        model.problem.value === null ? (
          <p class="loading">Loading …</p>
        ) : null
      ) : (
        <>
          <SessionHead model={model} session={session} menu={<SessionMenu model={model} />}>
            <Changes model={model} />
          </SessionHead>
          {isRun ? (
            <Run model={model}>
              <Transcript model={model} />
            </Run>
          ) : (
            <Transcript model={model} />
          )}
          <Tasks model={model} />
          <Questions model={model} />
          {isRun ? null : <Composer model={model} />}
          {model.forking.value === null ? null : (
            <Fork
              model={model}
              seq={model.forking.value}
              onClose={() => void (model.forking.value = null)}
            />
          )}
        </>
      )}
    </div>
  );
}

/** Why there is nothing to show. What happens to a session that is shown, the connection's notice says. */
function SessionProblemNotice({ model }: { readonly model: SessionModel }): JSX.Element | null {
  const problem = model.problem.value;
  if (problem === null || model.session.value !== null) {
    return null;
  }
  return (
    <Notice kind="problem">
      {problem.code === "session_not_found"
        ? "There is no such session. It may have been deleted."
        : problem.sentence}{" "}
      <Link to="/">Show all sessions</Link>
    </Notice>
  );
}
