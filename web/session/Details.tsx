import type { ComponentChildren, JSX } from "preact";

import type { SessionSummary } from "../../src/entries/client.ts";
import { Time } from "../parts/Time.tsx";
import { Exchanges } from "./Exchanges.tsx";
import { Forks } from "./fork/Forks.tsx";
import type { SessionModel } from "./model.ts";
import { SubAgents } from "./SubAgents.tsx";
import { Verify } from "./Verify.tsx";

interface DetailsProps {
  readonly model: SessionModel;
  readonly session: SessionSummary;
  readonly children: ComponentChildren;
}

/** What the head of a session shows once it is opened. */
export function Details({ model, session, children }: DetailsProps): JSX.Element {
  return (
    <>
      <p class="muted">
        Session <code>{session.id}</code>, made <Time at={session.created_at} />
        {session.ended_at === null ? null : (
          <>
            , ended <Time at={session.ended_at} />
          </>
        )}
      </p>
      <Verify model={model} />
      <SubAgents model={model} />
      <Forks of={session} />
      <Exchanges model={model} />
      {children}
    </>
  );
}
