import type { JSX } from "preact";

import type { SessionSummary } from "../../../src/entries/client.ts";
import { client } from "../../api.ts";
import { titleOf } from "../../list/state-text.ts";
import { Link } from "../../parts/Link.tsx";
import { Time } from "../../parts/Time.tsx";
import { useRead } from "../../parts/use-call.tsx";

const MAX_SHOWN = 200;

/** The sessions that continue from messages of one, the latest first. */
export function Forks({ of }: { readonly of: SessionSummary }): JSX.Element | null {
  const { value: forks, problem } = useRead<readonly SessionSummary[]>(
    async () => {
      const query = { forked_from: of.id, order: "created", limit: MAX_SHOWN } as const;
      return (await client.listSessions(query)).sessions;
    },
    [],
    [of.id],
  );
  if (forks.length === 0) {
    return problem;
  }
  return (
    <section>
      <h2 class="part-title">Forks</h2>
      <ul class="sub-agents">
        {forks.map((fork) => (
          <li key={fork.id}>
            <Link to={`/sessions/${fork.id}`}>
              <bdi>{titleOf(fork)}</bdi>
            </Link>{" "}
            <span class="muted">
              from message {fork.forked_from?.seq}, <Time at={fork.created_at} />
            </span>
          </li>
        ))}
      </ul>
      {forks.length === MAX_SHOWN ? (
        <p class="muted">Only the latest {MAX_SHOWN} are shown.</p>
      ) : null}
    </section>
  );
}
