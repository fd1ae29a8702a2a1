import type { JSX } from "preact";

import type { SessionSummary } from "../../src/entries/client.ts";
import { Link } from "../parts/Link.tsx";
import { useRead } from "../parts/use-call.tsx";
import { readChildren, type SessionModel } from "./model.ts";

/** The tree of sub-agents, with what each does. */
export function SubAgents({ model }: { readonly model: SessionModel }): JSX.Element | null {
  const children = model.children.value;
  return children.length === 0 ? null : (
    <section>
      <h2 class="part-title">Sub-agents</h2>
      <Branch sessions={children} />
    </section>
  );
}

function Branch({ sessions }: { readonly sessions: readonly SessionSummary[] }): JSX.Element {
  return (
    <ul class="sub-agents">
      {sessions.map((child) => (
        <li key={child.id}>
          <Link to={`/sessions/${child.id}`}>
            <bdi>{child.name ?? child.title ?? child.id}</bdi>
          </Link>{" "}
          <span class="muted">
            {child.persona_name === null ? "" : `${child.persona_name}, `}
            {child.exchange?.state ?? child.activity}
          </span>
          <Grandchildren of={child.id} />
        </li>
      ))}
    </ul>
  );
}

/** Sub-agents are nested three deep at most. */
function Grandchildren({ of }: { readonly of: string }): JSX.Element | null {
  const { value: sessions } = useRead<readonly SessionSummary[]>(() => readChildren(of), [], [of]);
  return sessions.length === 0 ? null : <Branch sessions={sessions} />;
}
