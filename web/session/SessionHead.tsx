import type { ComponentChildren, JSX } from "preact";

import type { SessionSummary } from "../../src/entries/client.ts";
import { Button } from "../parts/Button.tsx";
import { lazy } from "../parts/Lazy.tsx";
import { Link } from "../parts/Link.tsx";
import { plural } from "./call-text.ts";
import { costText } from "./exchange-text.ts";
import { Folded } from "./Folded.tsx";
import type { SessionModel } from "./model.ts";
import { MODES } from "./modes.ts";

const ForkedFrom = lazy(async () => (await import("./fork/ForkedFrom.tsx")).ForkedFrom, null);
const Details = lazy(async () => (await import("./Details.tsx")).Details);

interface SessionHeadProps {
  readonly model: SessionModel;
  readonly session: SessionSummary;
  readonly menu: ComponentChildren;
  /** Further parts of the details. */
  readonly children: ComponentChildren;
}

/** What the session is, in two lines; opened, with its exchanges, sub-agents and facts. */
export function SessionHead({ model, session, menu, children }: SessionHeadProps): JSX.Element {
  const { name, title, parent_session_id, repo_path, model: language, persona_name } = session;
  const archived = model.first.value - 1;
  return (
    <header class="session-head">
      <div class="session-title">
        {parent_session_id === null ? null : (
          <Link to={`/sessions/${parent_session_id}`} class="session-parent">
            ↑ Parent
          </Link>
        )}
        <h1>
          <bdi>{name ?? title ?? "(no message yet)"}</bdi>
        </h1>
        <StateMark model={model} session={session} />
        {menu}
      </div>
      {session.forked_from === null ? null : <ForkedFrom {...session.forked_from} />}
      <Folded
        model={model}
        id="details"
        title={
          <span class="session-facts">
            <Fact label="Folder" text={repo_path} />
            <Fact label="Model" text={language} />
            <Fact label="Persona" text={persona_name} />
            <ModeMark session={session} />
            <span>
              {session.total_input_tokens.toLocaleString("en")} tokens in,{" "}
              {session.total_output_tokens.toLocaleString("en")} out
            </span>
            <CostMark model={model} />
            <span>{plural(session.last_seq, "message")}</span>
          </span>
        }
      >
        <Details model={model} session={session}>
          {children}
        </Details>
      </Folded>
      {archived > 0 ? (
        <p class="session-archived">
          {plural(archived, "message")} before these {archived === 1 ? "is" : "are"} archived.{" "}
          <Button kind="quiet" onClick={model.showArchived}>
            Show archived messages
          </Button>
        </p>
      ) : null}
    </header>
  );
}

function Fact(props: { readonly label: string; readonly text: string | null }): JSX.Element | null {
  return props.text === null ? null : (
    <span class="fact">
      <span class="visually-hidden">{props.label}: </span>
      <bdi title={`${props.label}: ${props.text}`}>{props.text}</bdi>
    </span>
  );
}

/** Cost of the session, without its sub-agents. */
function CostMark({ model }: Pick<SessionHeadProps, "model">): JSX.Element | null {
  const text = model.cost.value === null ? null : costText(model.cost.value);
  return text === null ? null : <span title="Without sub-agents">{text}</span>;
}

/** What the agent may do without a question. Not shown to who sees the session alone. */
function ModeMark({ session }: Pick<SessionHeadProps, "session">): JSX.Element | null {
  const { plan_mode, permission } = session;
  if (plan_mode) {
    return <span class="mark">planning mode</span>;
  }
  return permission === null ? null : (
    <span class={permission === "all" ? "mark warning" : "mark"} title={MODES[permission]}>
      <span class="visually-hidden">Permissions: </span>
      {permission}
    </span>
  );
}

/** The state of the session and of what it does, in words. */
function StateMark({ model, session }: Pick<SessionHeadProps, "model" | "session">): JSX.Element {
  const exchange = model.live.value?.exchange?.state ?? session.exchange?.state;
  const questions = model.live.value?.questions.length ?? 0;
  const [state, text] =
    session.state === "ended"
      ? (["ended", "ended"] as const)
      : questions > 0
        ? (["waiting", plural(questions, "question")] as const)
        : exchange === undefined || exchange === "done"
          ? (["idle", "ready"] as const)
          : ([exchange, exchange] as const);
  return (
    <>
      <span class={`state ${state}`}>{text}</span>
      {typeof session.pinned_at === "string" ? <span class="mark">pinned</span> : null}
      {typeof session.archived_at === "string" ? <span class="mark">archived</span> : null}
    </>
  );
}
