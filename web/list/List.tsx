import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import type { SessionSummary } from "../../src/entries/client.ts";
import { client } from "../api.ts";
import { pageTitle } from "../parts/attention.ts";
import { connectionProblem } from "../parts/ConnectionNotice.tsx";
import { sentenceOf } from "../parts/sentence-of.ts";
import { Link } from "../parts/Link.tsx";
import { Time } from "../parts/Time.tsx";

/** All sessions, those with something new first. */
export function List(): JSX.Element {
  const sessions = useSignal<readonly SessionSummary[]>([]);
  useEffect(() => {
    pageTitle.value = null;
    client.listSessions({ roots: true, include: "labels" }).then(
      (page) => {
        sessions.value = page.sessions;
      },
      (error: unknown) => {
        connectionProblem.value = sentenceOf(error);
      },
    );
  }, []);
  return (
    <>
      <h1>Sessions</h1>
      <ul>
        {sessions.value.map(({ id, title, last_message_at }) => (
          <li key={id}>
            <Link to={`/sessions/${id}`}>
              <bdi>{title ?? id}</bdi>
            </Link>{" "}
            {last_message_at === null ? null : <Time at={last_message_at} />}
          </li>
        ))}
      </ul>
    </>
  );
}
