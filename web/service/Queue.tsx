import type { JSX } from "preact";

import type { WaitingInfo } from "../../src/entries/client.ts";
import { Link } from "../parts/Link.tsx";
import { Notice } from "../parts/Notice.tsx";
import { Time } from "../parts/Time.tsx";
import { Command } from "./Command.tsx";
import { durationText, openExchanges } from "./measures.ts";
import { samples, waiting } from "./watch.ts";

/** Exchanges that have not ended, and the sessions that wait for a node. */
export function Queue(): JSX.Element {
  const { value, problem } = waiting.value;
  return (
    <section aria-labelledby="service-queue">
      <h2 id="service-queue">Queue</h2>
      <Counts />
      {problem === null ? null : <Notice kind="warning">{problem}</Notice>}
      {value?.length === 0 ? <p class="muted">No session waits for a node.</p> : null}
      <ul class="rows">
        {(value ?? []).map((session) => (
          <li key={session.session_id}>
            <Waiting session={session} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Counts(): JSX.Element | null {
  const sample = samples.value.value?.at(-1);
  if (sample === undefined) {
    return null;
  }
  const { queued, running, waiting, interrupted, oldestSeconds } = openExchanges(sample);
  const counts = [
    ["running", running],
    ["queued", queued],
    ["waiting for an answer", waiting],
    ["interrupted", interrupted],
  ] as const;
  return (
    <p>
      {counts.map(([name, value], index) => (
        <span key={name}>
          {index === 0 ? "" : " · "}
          <strong>{value === null ? "?" : value.toLocaleString("en")}</strong> {name}
        </span>
      ))}
      {queued === null || queued === 0 || oldestSeconds === null
        ? ""
        : ` · the first has waited for ${durationText(oldestSeconds)}`}
    </p>
  );
}

function Waiting({ session }: { readonly session: WaitingInfo }): JSX.Element {
  const { session_id: id, title, repo_path, waits_since, runnable, command } = session;
  return (
    <>
      <div>
        <Link to={`/sessions/${id}`}>
          <bdi>{title ?? id.slice(0, 8)}</bdi>
        </Link>{" "}
        <span class={runnable ? "badge" : "badge warning"}>
          {runnable ? "waits for its turn" : "nobody runs it"}
        </span>
      </div>
      <div class="muted">
        since <Time at={waits_since} />
        {repo_path === null ? "" : " in "}
        <bdi>{repo_path}</bdi>
      </div>
      {command === null ? null : (
        <Command text={command}>Start a service that runs it, on its machine:</Command>
      )}
    </>
  );
}
